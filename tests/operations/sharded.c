/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows cut into shards as ranks have them: each with a state and counters of its own, which this program adds
 * up. The results that each shard then selects from its own elements, put together, are those of one
 * selection from the whole, bit for bit; whatever the number of shards. Then the statuses of calls that are
 * refused.
 *
 * Arguments: cpu and the number of threads; or cuda, over the emulated GPU, and N: one in N of the scenarios.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "generators.h"
#include "topk_route.h"
#include "topk_sharded.h"
#include "topk_simple.h"

enum { SCENARIOS = 240, ROWS = 3, LENGTH_MOST = 3000, SHARDS_MOST = 7, PARTS_MOST = 4, GUARD = 8 };

typedef struct shard {
    topk_problem problem;
    topk_input input;
    int64_t begin;
    int parts;
    int64_t cuts[PARTS_MOST + 1]; /* the parts lie between them */
    void *state;
    size_t state_bytes;
    int64_t *counters;
    int64_t better[ROWS], own_equal[ROWS], before[ROWS], own_k[ROWS], known[ROWS];
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
    const generator *from = &generators[random_below(random, generator_count)];
    generate(from, p->type, s->values, ROWS * (p->row_stride + 1), random);
    for (int64_t r = 0; r < p->rows; r++) {
        s->ks[r] = random_below(random, 4) == 0 ? strange[random_below(random, 6)]
                                                : random_below(random, p->length_max + 2);
    }
}

/* Parts of all sizes, some of them empty; or one alone, which is no part. */
static void cut_parts(shard *each, random_state *random) {
    each->parts = random_below(random, 2) == 0 ? 1 : 1 + (int)random_below(random, PARTS_MOST);
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
        CHECK(i == 0 || properties.rounds == s->rounds);
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

static void count_shard(const scenario *s, shard *each, int round) {
    if (each->parts == 1) {
        CHECK_STATUS(TOPK_OK, topk_sharded_count(context, &each->problem, each->state, each->state_bytes,
                                                 round, &each->input, each->counters, NULL));
    }
    for (int p = 0; each->parts > 1 && p < each->parts; p++) {
        topk_input input = each->input;
        input.values = (const char *)input.values + (size_t)each->cuts[p] * s->element_bytes;
        CHECK_STATUS(TOPK_OK, topk_sharded_count_part(context, &each->problem, each->state, each->state_bytes,
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

/* The results of all shards, which must be those of the whole, by position. */
static void compare(const scenario *s) {
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
    compare(&s);
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

/* ---- What is refused ---- */

static scenario one;

static topk_status begin(void) {
    const shard *x = &one.shards[0];
    return topk_sharded_begin(context, &x->problem, x->state, x->state_bytes, NULL, x->counters, NULL);
}

static topk_status count(int round) {
    const shard *x = &one.shards[0];
    return topk_sharded_count(context, &x->problem, x->state, x->state_bytes, round, &x->input, x->counters,
                              NULL);
}

static topk_status count_part(int round, int64_t part, int64_t length) {
    const shard *x = &one.shards[0];
    return topk_sharded_count_part(context, &x->problem, x->state, x->state_bytes, round, part, &x->input,
                                   length, x->counters, NULL);
}

static topk_status advance(int round) {
    const shard *x = &one.shards[0];
    return topk_sharded_advance(context, &x->problem, x->state, x->state_bytes, round, x->counters,
                                x->counters, NULL);
}

static topk_status result(const int64_t *before, int64_t *after) {
    const shard *x = &one.shards[0];
    topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
    output.after = after;
    return topk_sharded_result(context, &x->problem, x->state, x->state_bytes, before, &output, NULL);
}

static topk_status query(const topk_problem *problem) {
    topk_sharded_properties properties = TOPK_SHARDED_PROPERTIES_INIT;
    return topk_sharded_query(context, problem, &properties);
}

static void check_problems(void) {
    topk_problem p = one.problem;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_sharded_query(context, &p, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, query(NULL));
    p.type = TOPK_TYPE_UNDEFINED;
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, query(&p));
    p = one.problem;
    p.index_type = (topk_index_type)2;
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, query(&p));
    p = one.problem;
    p.index_base = -1;
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, query(&p));
    p = one.problem;
    p.epsilon = 1;
    CHECK_STATUS(TOPK_ERROR_CONTRADICTION, query(&p));
    p = one.problem;
    p.rows = INT64_MAX / 32;
    p.length_max = p.row_stride = 0;
    CHECK_STATUS(TOPK_ERROR_OVERFLOW, query(&p));
    p = one.problem; /* positions are not written: any may be */
    p.index_type = TOPK_INDEX_I32;
    p.index_base = INT64_MAX;
    CHECK_STATUS(TOPK_OK, query(&p));
}

static void check_buffers(void) {
    shard *x = &one.shards[0];
    const shard good = *x;
    int64_t numbers[ROWS + 1] = {0};
    x->state_bytes--;
    CHECK_STATUS(TOPK_ERROR_WORKSPACE_TOO_SMALL, begin());
    *x = good;
    x->state = NULL;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, begin());
    *x = good;
    x->counters = NULL;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, begin());
    x->counters = (int64_t *)(void *)((char *)good.counters + 4);
    CHECK_STATUS(TOPK_ERROR_MISALIGNED, begin());
    x->counters = good.state;
    CHECK_STATUS(TOPK_ERROR_OVERLAP, begin());
    *x = good;
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, count(-1));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, count(one.rounds));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, advance(one.rounds));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, count_part(0, -1, 1));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, count_part(0, 0, -1));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, count_part(0, 0, x->problem.length_max + 1));
    x->input.values = NULL;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, count(0));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, count_part(0, 0, 1));
    *x = good;
    x->input.k = one.ks;
    CHECK_STATUS(TOPK_ERROR_CONTRADICTION, count(0));
    *x = good;
    topk_routing routing = TOPK_ROUTING_INIT;
    x->input.routing = &routing;
    CHECK_STATUS(TOPK_ERROR_CONTRADICTION, count(0));
    *x = good;
    topk_predicate predicate = TOPK_PREDICATE_INIT;
    x->input.predicate = &predicate;
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, count(0));
    predicate.kind = TOPK_BYTE_MASK;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, count(0));
    predicate.mask = good.counters;
    CHECK_STATUS(TOPK_ERROR_OVERLAP, count(0));
    *x = good;
    CHECK_STATUS(TOPK_ERROR_OVERLAP, result(numbers, numbers + 1));
}

/* Calls out of turn, which the host finds on the CPU. */
static void check_states(void) {
    shard *x = &one.shards[0];
    const shard good = *x;
    int64_t numbers[ROWS];
    memset(x->state, 0, x->state_bytes);
    CHECK_STATUS(TOPK_ERROR_BAD_STATE, count(0));
    CHECK_STATUS(TOPK_OK, begin());
    CHECK_STATUS(TOPK_ERROR_BAD_STATE, advance(0));
    CHECK_STATUS(TOPK_ERROR_BAD_STATE, count(1));
    CHECK_STATUS(TOPK_ERROR_BAD_STATE, result(NULL, numbers));
    x->problem.direction = TOPK_SMALLEST;
    CHECK_STATUS(TOPK_ERROR_BAD_STATE, count(0));
    *x = good;
    for (int round = 0; round < one.rounds; round++) {
        CHECK_STATUS(TOPK_ERROR_BAD_STATE, count_part(round, 1, 1));
        CHECK_STATUS(TOPK_OK, count(round));
        CHECK_STATUS(TOPK_ERROR_BAD_STATE, count(round));
        CHECK_STATUS(TOPK_ERROR_BAD_STATE, count_part(round, 2, 1));
        CHECK_STATUS(TOPK_OK, count_part(round, 1, 0));
        CHECK_STATUS(TOPK_ERROR_BAD_STATE, count_part(round, 1, 0));
        CHECK_STATUS(TOPK_OK, advance(round));
        CHECK_STATUS(TOPK_ERROR_BAD_STATE, advance(round));
    }
    CHECK_STATUS(TOPK_OK, result(NULL, numbers));
    CHECK_STATUS(TOPK_OK, begin());
}

/* On a GPU results say what is wrong: a state that was never begun, or for another problem. */
static void check_broken(void) {
    const shard *x = &one.shards[0];
    int64_t own_k[ROWS] = {0};
    topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
    output.own_k = own_k;
    for (int other = 0; other < 2; other++) {
        topk_problem problem = x->problem;
        if (other == 0) {
            memset(x->state, 0, x->state_bytes);
        } else {
            CHECK_STATUS(TOPK_OK, begin());
            problem.direction = TOPK_SMALLEST;
        }
        CHECK_STATUS(TOPK_OK, topk_sharded_count(context, &problem, x->state, x->state_bytes, 0, &x->input,
                                                 x->counters, NULL));
        CHECK_STATUS(TOPK_OK, topk_sharded_advance(context, &problem, x->state, x->state_bytes, 0,
                                                   x->counters, x->counters, NULL));
        CHECK_STATUS(TOPK_OK,
                     topk_sharded_result(context, &problem, x->state, x->state_bytes, NULL, &output, NULL));
        CHECK(own_k[0] == -2 && own_k[ROWS - 1] == -2);
    }
}

/* As many ties before the shard's as there cannot be: the sum of an exchange that failed. */
static void check_negative_before(bool on_gpu) {
    const shard *x = &one.shards[0];
    int64_t own_k[ROWS], after[ROWS], better[ROWS];
    const int64_t before[ROWS] = {0, -2, 3};
    topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
    output.own_k = own_k;
    output.after = after;
    output.better = better;
    CHECK_STATUS(TOPK_OK, begin());
    for (int round = 0; round < one.rounds; round++) {
        CHECK_STATUS(TOPK_OK, count(round));
        CHECK_STATUS(TOPK_OK, advance(round));
    }
    CHECK_STATUS(on_gpu ? TOPK_OK : TOPK_ERROR_BAD_STATE,
                 topk_sharded_result(context, &x->problem, x->state, x->state_bytes, before, &output, NULL));
    if (on_gpu) {
        const int64_t all = one.problem.length_max;
        CHECK(own_k[0] == 10 && own_k[1] == -2 && own_k[2] == 7);
        CHECK(after[0] == all && after[1] == -2 && after[2] == all + 3);
        CHECK(better[0] == 0 && better[1] == 0 && better[2] == 0);
    }
}

/* Sums that no counters have: an exchange failed. Other rows have their results. */
static void check_negative(bool on_gpu, int64_t bins) {
    shard *x = &one.shards[0];
    int64_t better[ROWS], equal[ROWS], own_k[ROWS];
    topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
    output.better = better;
    output.equal = equal;
    output.own_k = own_k;
    for (int bad = 0; bad < one.rounds; bad++) {
        CHECK_STATUS(TOPK_OK, begin());
        for (int round = 0; round < one.rounds && (on_gpu || round <= bad); round++) {
            CHECK_STATUS(TOPK_OK, count(round));
            if (round == bad) {
                x->counters[bins] = -2; /* the second row's first */
            }
            CHECK_STATUS(on_gpu || round < bad ? TOPK_OK : TOPK_ERROR_BAD_STATE, advance(round));
        }
        if (on_gpu) {
            CHECK_STATUS(TOPK_OK, topk_sharded_result(context, &x->problem, x->state, x->state_bytes, NULL,
                                                      &output, NULL));
            for (int row = 0; row < ROWS; row++) {
                CHECK(row == 1
                          ? better[row] == -2 && equal[row] == -2 && own_k[row] == -2
                          : better[row] == 0 && equal[row] == one.problem.length_max && own_k[row] == 10);
            }
        }
    }
}

static void check_refused(bool on_gpu) {
    enum { LENGTH = 1000 };
    static float values[ROWS * LENGTH];
    topk_sharded_properties properties = TOPK_SHARDED_PROPERTIES_INIT;
    shard *x = &one.shards[0];
    one.problem = (topk_problem)TOPK_PROBLEM_INIT;
    one.problem.type = TOPK_F32;
    one.problem.rows = ROWS;
    one.problem.length_max = LENGTH;
    one.problem.k_max = 10;
    CHECK_STATUS(TOPK_OK, topk_sharded_query(context, &one.problem, &properties));
    x->problem = one.problem;
    x->input = (topk_input)TOPK_INPUT_INIT;
    x->input.values = values;
    x->state_bytes = properties.state_bytes;
    x->state = aligned_alloc(64, (properties.state_bytes + 63) / 64 * 64);
    x->counters = allocate((size_t)properties.counters * sizeof(int64_t) + GUARD);
    one.rounds = properties.rounds;
    if (x->state == NULL) {
        abort();
    }
    check_problems();
    CHECK_STATUS(TOPK_OK, begin());
    check_buffers();
    if (on_gpu) {
        check_broken();
    } else {
        check_states();
    }
    check_negative(on_gpu, properties.counters / ROWS);
    check_negative_before(on_gpu);
    free(x->state);
    free(x->counters);
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
    check_refused(on_gpu);
    topk_simple_destroy(simple);
    return check_report();
}
