/* SPDX-License-Identifier: Apache-2.0
 * Shards on the CPU: the calls on a state, but for counting. */
#include <string.h>

#include "../../reached.h"
#include "../../status.h"
#include "../methods.h"
#include "../output.h"
#include "../team.h"
#include "state.h"

static void measure(struct sharded *s) {
    s->bytes = topk_cpu_sharded_lay_out(s, NULL).bytes;
}

enum { A_ROUND_HAS_ENDED = -1 };

/* Opens a state that has gone `step` steps. */
static topk_status open_at(const struct sharded *s, int64_t step, struct sharded_state *state) {
    *state = topk_cpu_sharded_lay_out(s, s->memory);
    const struct sharded_header *h = state->header;
    if (h->magic != SHARDED_MAGIC) {
        return topk_fail(TOPK_ERROR_BAD_STATE, "the state was not begun");
    }
    if (h->problem != s->problem) {
        return topk_fail(TOPK_ERROR_BAD_STATE, "the state was begun for another problem");
    }
    if (step == A_ROUND_HAS_ENDED) {
        return h->step > 0 && h->step % 2 == 0
                   ? TOPK_OK
                   : topk_fail(TOPK_ERROR_BAD_STATE, "results take a round that has ended");
    }
    return h->step == step
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_BAD_STATE,
                           "%lld counts and advances have been made of this state, here it takes %lld",
                           (long long)h->step, (long long)step);
}

static size_t counters_bytes(const struct sharded *s) {
    return (size_t)(s->plan.problem.rows * s->bins) * sizeof(int64_t);
}

static void clear(int64_t *counters, size_t bytes) {
    if (bytes > 0) {
        memset(counters, 0, bytes);
    }
}

static topk_status begin(const struct sharded *s, const void *k, int64_t *counters) {
    const struct sharded_state state = topk_cpu_sharded_lay_out(s, s->memory);
    const topk_input of_k = {.k = k};
    *state.header = (struct sharded_header){.magic = SHARDED_MAGIC, .problem = s->problem};
    for (int64_t r = 0; r < s->plan.problem.rows; r++) {
        state.rows[r] = sharded_row_begin(plan_row_k(&s->plan, &of_k, r), s->plan.element_bits);
    }
    clear(state.own, counters_bytes(s));
    clear(counters, counters_bytes(s));
    return TOPK_OK;
}

static topk_status count(const struct sharded *s, int round, const topk_input *input, int64_t *counters) {
    struct sharded_state state;
    const bool is_first = s->part_number == 0;
    const topk_status status = open_at(s, 2 * round + !is_first, &state);
    if (status != TOPK_OK) {
        return status;
    }
    if (!is_first && s->part_number != state.header->parts) {
        return topk_fail(TOPK_ERROR_BAD_STATE, "part %lld is counted after %lld parts",
                         (long long)s->part_number, (long long)state.header->parts);
    }
    for (int t = 0; t < state.threads; t++) {
        const struct sharded_scratch scratch = topk_cpu_sharded_scratch(&state, t);
        memset(scratch.tables, 0, DIGIT_TABLES * topk_cpu_sharded_pitch(s) * sizeof *scratch.tables);
    }
    state.header->step += is_first;
    state.header->parts = s->part_number + 1;
    topk_cpu_sharded_count(&state, round, input, counters);
    return TOPK_OK;
}

/* ---- Advancing ---- */

static int64_t sum(const int64_t *counters, int64_t begin, int64_t end) {
    int64_t total = 0;
    for (int64_t b = begin; b < end; b++) {
        total += counters[b];
    }
    return total;
}

/* The row turns out to have fewer than k elements: all of them are better. */
static void end_row(struct sharded_row *row, int64_t total, int64_t own) {
    row->open = 0;
    row->better = total;
    row->own_better = own;
    row->own = 0;
}

static void narrow(const struct sharded *s, struct sharded_row *row, int round, const int64_t *sums,
                   const int64_t *own) {
    const struct sharded_digit digit = sharded_digit_of(s, round);
    int64_t bin = (INT64_C(1) << digit.bits) - 1;
    const int64_t end = bin + 1;
    for (; bin > 0 && sums[bin] < row->k - row->better; bin--) {
        row->better += sums[bin];
    }
    row->low |= (uint64_t)bin << digit.shift;
    row->bits_left = digit.shift;
    row->equal = sums[bin];
    row->own_better += sum(own, bin + 1, end);
    row->own = own[bin];
    sharded_row_plan(row, s->capacity, round + 2 >= s->rounds);
    if (row->target > 0) {
        TOPK_REACHED(REACHED_SHARDED_KEPT_AGAIN);
    } else if (row->target == 0) {
        TOPK_REACHED(REACHED_SHARDED_KEPT);
    } else if (row->own > s->capacity && round + 2 < s->rounds) {
        TOPK_REACHED(REACHED_SHARDED_NO_ROOM);
    }
}

struct advance {
    const struct sharded_state *state;
    int round;
    const int64_t *sums;
};

static void advance_rows(void *argument, int part, int parts) {
    const struct advance *a = argument;
    const struct sharded *s = a->state->s;
    const size_t rows = (size_t)s->plan.problem.rows;
    for (size_t r = share(rows, part, parts); r < share(rows, part + 1, parts); r++) {
        struct sharded_row *row = &a->state->rows[r];
        int64_t *own = a->state->own + r * (size_t)s->bins;
        const int64_t *sums = a->sums + r * (size_t)s->bins;
        const int64_t total = a->round == 0 && row->open ? sum(sums, 0, s->bins) : row->k;
        if (row->open && row->k > total) {
            end_row(row, total, sum(own, 0, s->bins));
        } else if (row->open) {
            narrow(s, row, a->round, sums, own);
        }
        clear(own, (size_t)s->bins * sizeof *own);
    }
}

static bool any_negative(const int64_t *sums, size_t count) {
    int64_t signs = 0;
    for (size_t i = 0; i < count; i++) {
        signs |= sums[i];
    }
    return signs < 0;
}

static topk_status advance(const struct sharded *s, int round, const int64_t *sums, int64_t *counters) {
    struct sharded_state state;
    const topk_status status = open_at(s, 2 * round + 1, &state);
    if (status != TOPK_OK) {
        return status;
    }
    struct advance job = {&state, round, sums};
    const size_t all = (size_t)(s->plan.problem.rows * s->bins);
    if (any_negative(sums, all)) {
        return topk_fail(TOPK_ERROR_BAD_STATE, "a sum of counters is negative");
    }
    topk_cpu_team_run(s->context, team_size(topk_context_threads(s->context), all), advance_rows, &job);
    state.header->step++;
    clear(counters, counters_bytes(s));
    return TOPK_OK;
}

/* ---- Results ---- */

static void store(int64_t *array, int64_t r, int64_t number) {
    if (array != NULL) {
        array[r] = number;
    }
}

/* `number` if it is known, else -2. */
static void store_known(int64_t *array, int64_t r, bool known, int64_t number) {
    store(array, r, known ? number : -2);
}

/* Whether a row's results depend on a number of ties that is none. */
static bool misses_ties(const struct sharded_state *state, const int64_t *before) {
    bool misses = false;
    for (int64_t r = 0; r < state->s->plan.problem.rows; r++) {
        misses |= before[r] < 0 && sharded_row_known(&state->rows[r]) == 2;
    }
    return misses;
}

static topk_status result(const struct sharded *s, const int64_t *before, const topk_sharded_output *o) {
    struct sharded_state state;
    const topk_status status = open_at(s, A_ROUND_HAS_ENDED, &state);
    if (status == TOPK_OK && before != NULL && misses_ties(&state, before)) {
        return topk_fail(TOPK_ERROR_BAD_STATE, "a number of ties before the shard's is negative");
    }
    for (int64_t r = 0; status == TOPK_OK && r < s->plan.problem.rows; r++) {
        const struct sharded_row *row = &state.rows[r];
        const int64_t others = before == NULL ? 0 : before[r], known = sharded_row_known(row);
        const bool all = known == 2;
        if (o->kth != NULL) {
            store_element(o->kth, r, s->plan.element_bytes,
                          row->open && all ? topk_key_decode(&s->plan.order, row->low) : s->plan.padding);
        }
        store_known(o->better, r, all, row->better);
        store_known(o->equal, r, all, row->open ? row->equal : 0);
        store_known(o->own_better, r, all, row->own_better);
        store_known(o->own_equal, r, all, row->own);
        store_known(o->own_k, r, known > 0, sharded_row_own_k(row, others));
        store_known(o->after, r, all, others + row->own);
        store(o->known, r, known);
    }
    return status;
}

static topk_status select_part(const struct sharded *s, const topk_input *input, const int64_t *before,
                               void *values, void *indices) {
    struct sharded_state state;
    const topk_status status = open_at(s, A_ROUND_HAS_ENDED, &state);
    if (status != TOPK_OK) {
        return status;
    }
    if (before != NULL && misses_ties(&state, before)) {
        return topk_fail(TOPK_ERROR_BAD_STATE, "a number of ties before the shard's is negative");
    }
    if (s->part_number != 0 && s->part_number != state.header->selected) {
        return topk_fail(TOPK_ERROR_BAD_STATE, "results of part %lld are asked for after those of %lld parts",
                         (long long)s->part_number, (long long)state.header->selected);
    }
    state.header->selected = s->part_number + 1;
    topk_cpu_sharded_select(&state, input, before, values, indices);
    return TOPK_OK;
}

const struct sharding topk_cpu_sharding = {.digit_bits = sharded_digit_bits,
                                           .measure = measure,
                                           .begin = begin,
                                           .count = count,
                                           .advance = advance,
                                           .result = result,
                                           .select = select_part};
