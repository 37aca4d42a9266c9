/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows cut into shards as ranks have them: each with a state and counters of its own, which this program adds
 * up. The results that each shard then selects from its own elements, put together, are one selection's
 * from the whole, bit for bit; whatever the number of shards. So are the results that each shard's
 * state selects.
 *
 * Arguments: cpu and the number of threads; or cuda, over the emulated GPU, and N: one in N of the scenarios.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "generators.h"
#include "topk_sharded.h"
#include "topk_simple.h"

enum { SCENARIOS = 240, ROWS = 3, LENGTH_MOST = 3000, SHARDS_MOST = 7, PARTS_MOST = 4, GUARD = 8 };

typedef struct shard {
    topk_problem problem;
    topk_input input;
    int64_t begin;
    int parts;
    int64_t cuts[PARTS_MOST + 1]; /* the parts lie between them */
    bool spans;                   /* these are vectors of their own, and no longer than their rows need */
    int64_t begins[ROWS], ends[ROWS];
    void *state;
    size_t state_bytes;
    int64_t *counters;
    int64_t better[ROWS], own_equal[ROWS], given[ROWS], before[ROWS], own_k[ROWS], known[ROWS];
} shard;

typedef struct scenario {
    topk_problem problem; /* of the whole: rows in int64 extents and indices, results by position */
    char *values;
    size_t element_bytes;
    int64_t ks[ROWS];
    int count, rounds;
    bool stops; /* as soon as own_k is known for all rows */
    shard shards[SHARDS_MOST];
    int64_t *sums;
    size_t counters_bytes;
} scenario;

static topk_simple *simple;
static topk_context *context;

static void *allocate(size_t bytes) {
    void *memory = malloc(bytes + 1);
    if (memory == NULL) {
        abort();
    }
    memset(memory, 0x5a, bytes + 1);
    return memory;
}

static void draw(scenario *s, random_state *random) {
    static const int64_t strange[] = {0, 1, 2, 64, 65, INT64_MAX / 2};
    topk_problem *p = &s->problem;
    *p = (topk_problem)TOPK_PROBLEM_INIT;
    p->type = (topk_type)(1 + random_below(random, TOPK_U64));
    p->index_type = TOPK_INDEX_I64;
    p->direction = (topk_direction)random_below(random, 2);
    p->rank = (topk_rank)random_below(random, 2);
    p->nan = (topk_nan)random_below(random, 2);
    p->order = TOPK_ORDER_BY_POSITION;
    p->rows = random_below(random, ROWS + 1);
    p->length_max = random_below(random, 1 + random_below(random, LENGTH_MOST));
    p->row_stride = p->length_max + random_below(random, 3);
    p->k_max = 1 + random_below(random, p->length_max + 2);
    s->element_bytes = topk_type_size(p->type);
    s->values = allocate((size_t)(ROWS * (p->row_stride + 1)) * s->element_bytes);
    const bool whole = random_below(random, 4) == 0; /* all elements are results, also the worst there are */
    p->k_max = whole ? p->length_max + 1 : p->k_max;
    const generator *from = &generators[random_below(random, generator_count)];
    generate(from, p->type, s->values, ROWS * (p->row_stride + 1), random);
    for (int64_t r = 0; r < p->rows; r++) {
        s->ks[r] = whole                          ? p->length_max
                   : random_below(random, 4) == 0 ? strange[random_below(random, 6)]
                                                  : random_below(random, p->length_max + 2);
    }
}

/* Parts of all sizes, some of them empty; or one alone, which is no part. */
static void cut_parts(shard *each, random_state *random) {
    each->parts = random_below(random, 2) == 0 ? 1 : 1 + (int)random_below(random, PARTS_MOST);
    each->spans = random_below(random, 2) == 0;
    each->cuts[0] = 0;
    each->cuts[each->parts] = each->problem.length_max;
    for (int p = 1; p < each->parts; p++) {
        const int64_t before = each->cuts[p - 1];
        each->cuts[p] = before + random_below(random, each->problem.length_max - before + 1);
    }
}

/* Shards of all sizes, some of them empty. */
static void cut(scenario *s, random_state *random) {
    static const int counts[] = {1, 2, 3, 4, 7};
    int64_t begin = 0;
    s->count = counts[random_below(random, 5)];
    for (int i = 0; i < s->count; i++) {
        shard *each = &s->shards[i];
        const int64_t left = s->problem.length_max - begin;
        const int64_t length = i == s->count - 1              ? left
                               : random_below(random, 4) == 0 ? 0
                                                              : random_below(random, left + 1);
        topk_sharded_properties properties = TOPK_SHARDED_PROPERTIES_INIT;
        each->problem = s->problem;
        each->problem.length_max = length;
        each->problem.workspace_limit = random_below(random, 3) == 0;
        each->input = (topk_input)TOPK_INPUT_INIT;
        each->input.values = s->values + (size_t)begin * s->element_bytes;
        each->begin = begin;
        cut_parts(each, random);
        begin += length;
        CHECK_STATUS(TOPK_OK, topk_sharded_query(context, &each->problem, &properties));
        CHECK(i == 0 || (properties.rounds == s->rounds &&
                         (size_t)properties.counters * sizeof(int64_t) == s->counters_bytes));
        s->rounds = properties.rounds;
        s->counters_bytes = (size_t)properties.counters * sizeof(int64_t);
        each->state_bytes = properties.state_bytes;
        each->state = allocate(each->state_bytes);
        each->counters = allocate(s->counters_bytes);
    }
    s->stops = random_below(random, 2) == 0;
    s->sums = allocate(s->counters_bytes);
}

static void add_up(const scenario *s) {
    memset(s->sums, 0, s->counters_bytes);
    for (int i = 0; i < s->count; i++) {
        for (size_t c = 0; c < s->counters_bytes / sizeof(int64_t); c++) {
            s->sums[c] += s->shards[i].counters[c];
        }
    }
}

/* Part p, whose row r begins at element r x row_stride of `values`. */
static void take_part(shard *each, int p, const char *values, topk_problem *problem, topk_input *input) {
    const int64_t length = each->cuts[p + 1] - each->cuts[p];
    *input = each->input;
    input->values = values;
    if (!each->spans) {
        return;
    }
    for (int64_t r = 0; r < problem->rows; r++) {
        each->begins[r] = r * problem->row_stride;
        each->ends[r] = each->begins[r] + length;
    }
    problem->elements_max = problem->rows > 0 ? each->ends[problem->rows - 1] : 0;
    problem->shape = TOPK_SHAPE_SPANS;
    problem->row_stride = 0;
    input->begins = each->begins;
    input->ends = each->ends;
}

static void count_shard(const scenario *s, shard *each, int round) {
    if (each->parts == 1) {
        CHECK_STATUS(TOPK_OK, topk_sharded_count(context, &each->problem, each->state, each->state_bytes,
                                                 round, &each->input, each->counters, NULL));
    }
    for (int p = 0; each->parts > 1 && p < each->parts; p++) {
        topk_problem problem = each->problem;
        topk_input input;
        take_part(each, p, (const char *)each->input.values + (size_t)each->cuts[p] * s->element_bytes,
                  &problem, &input);
        CHECK_STATUS(TOPK_OK, topk_sharded_count_part(context, &problem, each->state, each->state_bytes,
                                                      round, p, &input, each->cuts[p + 1] - each->cuts[p],
                                                      each->counters, NULL));
    }
}

/* Whether own_k is known for all rows: all shards say the same. */
static bool is_known(scenario *s, bool is_last) {
    bool all = true;
    for (int i = 0; i < s->count; i++) {
        shard *each = &s->shards[i];
        topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
        output.known = each->known;
        CHECK_STATUS(TOPK_OK, topk_sharded_result(context, &each->problem, each->state, each->state_bytes,
                                                  NULL, &output, NULL));
        for (int64_t r = 0; r < s->problem.rows; r++) {
            CHECK(each->known[r] == s->shards[0].known[r] && (!is_last || each->known[r] == 2));
            all = all && each->known[r] > 0;
        }
    }
    return all;
}

static void narrow_down(scenario *s) {
    for (int i = 0; i < s->count; i++) {
        shard *each = &s->shards[i];
        CHECK_STATUS(TOPK_OK, topk_sharded_begin(context, &each->problem, each->state, each->state_bytes,
                                                 s->ks, each->counters, NULL));
    }
    for (int round = 0; round < s->rounds; round++) {
        for (int i = 0; i < s->count; i++) {
            count_shard(s, &s->shards[i], round);
        }
        add_up(s);
        for (int i = 0; i < s->count; i++) {
            shard *each = &s->shards[i];
            const bool in_place = i % 2 == 0;
            if (in_place) {
                memcpy(each->counters, s->sums, s->counters_bytes);
            }
            CHECK_STATUS(TOPK_OK,
                         topk_sharded_advance(context, &each->problem, each->state, each->state_bytes, round,
                                              in_place ? each->counters : s->sums, each->counters, NULL));
        }
        if (is_known(s, round + 1 == s->rounds) && s->stops) {
            break;
        }
    }
}

static void find_results(scenario *s) {
    int64_t before[ROWS] = {0};
    for (int i = 0; i < s->count; i++) {
        shard *each = &s->shards[i];
        topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
        output.better = each->better;
        output.own_equal = each->own_equal;
        CHECK_STATUS(TOPK_OK, topk_sharded_result(context, &each->problem, each->state, each->state_bytes,
                                                  NULL, &output, NULL));
        memcpy(each->given, before, sizeof before);
        memcpy(each->before, before, sizeof before);
        for (int64_t r = 0; r < s->problem.rows; r++) {
            before[r] = each->known[r] == 2 ? before[r] + each->own_equal[r] : -2;
            CHECK(each->known[r] == 2 || (each->better[r] == -2 && each->own_equal[r] == -2));
        }
        output = (topk_sharded_output)TOPK_SHARDED_OUTPUT_INIT;
        output.own_k = each->own_k;
        output.after = each->before; /* in place */
        CHECK_STATUS(TOPK_OK, topk_sharded_result(context, &each->problem, each->state, each->state_bytes,
                                                  each->before, &output, NULL));
        CHECK(memcmp(each->before, before, (size_t)s->problem.rows * sizeof *before) == 0);
    }
}

/* ---- What each shard selects by its state ---- */

/* Where that goes, and what positions are written as. */
typedef struct selection {
    int64_t pitch;
    bool narrow;      /* indices have 32 bits */
    int64_t *payload; /* of each element of the whole; or NULL */
    char *values;
    void *indices;
} selection;

enum { PAYLOAD_FACTOR = 5 };

static void draw_selection(const scenario *s, random_state *random, selection *to) {
    const int64_t elements = ROWS * (s->problem.row_stride + 1);
    to->narrow = random_below(random, 2) == 0;
    to->pitch = random_below(random, 2) == 0 ? s->problem.k_max : random_below(random, s->problem.k_max + 3);
    to->payload = random_below(random, 3) == 0 ? allocate((size_t)elements * sizeof(int64_t)) : NULL;
    for (int64_t e = 0; to->payload != NULL && e < elements; e++) {
        if (to->narrow) {
            ((int32_t *)(void *)to->payload)[e] = (int32_t)(PAYLOAD_FACTOR * e);
        } else {
            to->payload[e] = PAYLOAD_FACTOR * e;
        }
    }
    to->values = allocate((size_t)(ROWS * to->pitch) * s->element_bytes + GUARD);
    to->indices = allocate((size_t)(ROWS * to->pitch) * sizeof(int64_t) + GUARD);
}

static void select_shard(const scenario *s, shard *each, const selection *to, bool has_values) {
    const size_t index_bytes = to->narrow ? 4 : 8;
    memset(to->values, 0x5a, (size_t)(ROWS * to->pitch) * s->element_bytes + GUARD);
    memset(to->indices, 0x5a, (size_t)(ROWS * to->pitch) * sizeof(int64_t) + GUARD);
    for (int p = 0; p < each->parts; p++) {
        const int64_t first = each->begin + each->cuts[p];
        topk_problem problem = each->problem;
        topk_input input = each->input;
        if (each->parts > 1) {
            take_part(each, p, s->values + (size_t)first * s->element_bytes, &problem, &input);
        }
        input.indices = to->payload == NULL ? NULL : (const char *)to->payload + (size_t)first * index_bytes;
        problem.index_type = to->narrow ? TOPK_INDEX_I32 : TOPK_INDEX_I64;
        problem.index_base = first;
        CHECK_STATUS(
            TOPK_OK,
            each->parts == 1
                ? topk_sharded_select(context, &problem, each->state, each->state_bytes, &input, each->given,
                                      to->pitch, has_values ? to->values : NULL, to->indices, NULL)
                : topk_sharded_select_part(context, &problem, each->state, each->state_bytes, p, &input,
                                           each->cuts[p + 1] - each->cuts[p], each->given, to->pitch,
                                           has_values ? to->values : NULL, to->indices, NULL));
    }
}

static int64_t index_at(const selection *to, int64_t at) {
    return to->narrow ? ((const int32_t *)to->indices)[at] : ((const int64_t *)to->indices)[at];
}

/* The padding value: what the k-th of a row without elements is. */
static void write_padding(const scenario *s, void *value) {
    topk_problem p = s->problem;
    topk_input input = TOPK_INPUT_INIT;
    p.rows = 1;
    p.length_max = p.row_stride = 0;
    CHECK_STATUS(TOPK_OK, topk_simple_run_kth(simple, &p, &input, value, NULL, NULL, NULL));
}

/* `wanted`: positions in the whole row of the shard's `count` results. */
static void check_selected(const scenario *s, const selection *to, int64_t row, const int64_t *wanted,
                           int64_t count, bool has_values) {
    _Alignas(8) char padding[8];
    write_padding(s, padding);
    for (int64_t slot = 0; slot < to->pitch; slot++) {
        const int64_t at = row * to->pitch + slot, position = slot < count ? wanted[slot] : -1;
        const int64_t element = row * s->problem.row_stride + position;
        const int64_t index = position >= 0 && to->payload != NULL ? PAYLOAD_FACTOR * element : position;
        const char *value = slot < count ? s->values + (size_t)element * s->element_bytes : padding;
        if (!CHECK(index_at(to, at) == index) ||
            !CHECK(!has_values ||
                   memcmp(to->values + (size_t)at * s->element_bytes, value, s->element_bytes) == 0)) {
            return;
        }
    }
}

static void check_guards(const scenario *s, const selection *to) {
    const char *values = to->values + (size_t)(s->problem.rows * to->pitch) * s->element_bytes;
    const char *indices =
        (const char *)to->indices + (size_t)(s->problem.rows * to->pitch) * (to->narrow ? 4 : 8);
    for (int g = 0; g < GUARD; g++) {
        CHECK(values[g] == 0x5a && indices[g] == 0x5a);
    }
}

/* Each shard's results, with positions in the whole row. `whole`: k_max of each row, by position.
 */
static void compare_selected(scenario *s, random_state *random, const int64_t *whole) {
    int64_t filled[ROWS] = {0};
    selection to;
    draw_selection(s, random, &to);
    for (int i = 0; i < s->count; i++) {
        shard *each = &s->shards[i];
        const bool has_values = random_below(random, 4) != 0;
        select_shard(s, each, &to, has_values);
        for (int64_t r = 0; r < s->problem.rows; r++) {
            check_selected(s, &to, r, whole + r * s->problem.k_max + filled[r], each->own_k[r], has_values);
            filled[r] += each->own_k[r];
        }
        check_guards(s, &to);
    }
    free(to.payload);
    free(to.values);
    free(to.indices);
}

/* The results of all shards, which must be the whole's, by position. */
static void compare(scenario *s, random_state *random) {
    const topk_problem *p = &s->problem;
    const size_t slots = (size_t)(p->rows * p->k_max);
    int64_t *whole = allocate(slots * sizeof *whole), *part = allocate(slots * sizeof *part);
    int64_t filled[ROWS] = {0};
    topk_input input = TOPK_INPUT_INIT;
    input.values = s->values;
    input.k = s->ks;
    CHECK_STATUS(TOPK_OK, topk_simple_run_select(simple, p, &input, NULL, whole, NULL));
    for (int i = 0; i < s->count; i++) {
        const shard *each = &s->shards[i];
        topk_problem problem = each->problem;
        problem.workspace_limit = 0;
        problem.index_base = each->begin;
        input = each->input;
        input.k = each->own_k;
        CHECK_STATUS(TOPK_OK, topk_simple_run_select(simple, &problem, &input, NULL, part, NULL));
        for (int64_t r = 0; r < p->rows; r++) {
            const int64_t count = each->own_k[r];
            const bool fits =
                CHECK(count >= 0 && count <= problem.length_max && filled[r] + count <= p->k_max);
            CHECK(!fits || memcmp(part + r * p->k_max, whole + r * p->k_max + filled[r],
                                  (size_t)count * sizeof *part) == 0);
            filled[r] += count;
        }
    }
    for (int64_t r = 0; r < p->rows; r++) {
        CHECK(filled[r] == p->k_max || whole[r * p->k_max + filled[r]] == -1);
    }
    compare_selected(s, random, whole);
    free(whole);
    free(part);
}

static void run_scenario(uint64_t seed) {
    static scenario s;
    random_state random = {seed};
    const int failed = check_failures;
    draw(&s, &random);
    cut(&s, &random);
    narrow_down(&s);
    find_results(&s);
    compare(&s, &random);
    for (int i = 0; i < s.count; i++) {
        free(s.shards[i].state);
        free(s.shards[i].counters);
    }
    free(s.sums);
    free(s.values);
    if (check_failures != failed) {
        fprintf(stderr, "    seed %" PRIu64 ": %s, %d shards of %" PRId64 " elements\n", seed,
                topk_type_name(s.problem.type), s.count, s.problem.length_max);
    }
}

int main(int argc, char **argv) {
    const bool on_gpu = argc > 1 && strcmp(argv[1], "cuda") == 0;
    const int number = argc > 2 ? atoi(argv[2]) : 1;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.backend = on_gpu ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    options.threads = on_gpu ? 0 : number;
    if (!CHECK_STATUS(TOPK_OK, topk_simple_create(&options, &simple))) {
        return check_report();
    }
    context = topk_simple_context(simple);
    for (int i = 0; i < SCENARIOS; i += on_gpu ? number : 1) {
        run_scenario((uint64_t)i);
    }
    topk_simple_destroy(simple);
    return check_report();
}
