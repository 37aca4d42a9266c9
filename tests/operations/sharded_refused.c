/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls on shards that are refused, and states, sums and numbers that are wrong: on the CPU a status says so,
 * on a GPU the results do.
 *
 * Arguments: cpu; or cuda, over the emulated GPU.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "topk_route.h"
#include "topk_sharded.h"
#include "topk_simple.h"

enum { ROWS = 3, GUARD = 8 };

typedef struct shard {
    topk_problem problem;
    topk_input input;
    void *state;
    size_t state_bytes;
    int64_t *counters;
} shard;

typedef struct scenario {
    topk_problem problem;
    int64_t ks[ROWS];
    int rounds;
    shard shards[1];
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

static topk_status selected(const int64_t *before, int64_t pitch, float *values, int64_t *indices) {
    const shard *x = &one.shards[0];
    return topk_sharded_select(context, &x->problem, x->state, x->state_bytes, &x->input, before, pitch,
                               values, indices, NULL);
}

static topk_status selected_part(int64_t part, int64_t length, int64_t *indices) {
    const shard *x = &one.shards[0];
    return topk_sharded_select_part(context, &x->problem, x->state, x->state_bytes, part, &x->input, length,
                                    NULL, 1, NULL, indices, NULL);
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

static void check_selections(void) {
    shard *x = &one.shards[0];
    const shard good = *x;
    float values[ROWS];
    int64_t indices[ROWS + 1];
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, selected(NULL, -1, values, indices));
    CHECK_STATUS(TOPK_ERROR_OVERFLOW, selected(NULL, INT64_MAX / 4, values, indices));
    CHECK_STATUS(TOPK_ERROR_OVERLAP, selected(NULL, 1, good.state, indices));
    CHECK_STATUS(TOPK_ERROR_OVERLAP, selected(indices + 1, 1, values, indices));
    CHECK_STATUS(TOPK_ERROR_MISALIGNED, selected(NULL, 1, (float *)(void *)((char *)values + 2), indices));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, selected_part(-1, 1, indices));
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, selected_part(0, x->problem.length_max + 1, indices));
    x->input.values = NULL;
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, selected(NULL, 1, values, indices));
    *x = good;
    x->input.k = one.ks;
    CHECK_STATUS(TOPK_ERROR_CONTRADICTION, selected(NULL, 1, values, indices));
    *x = good;
    x->problem.index_type = TOPK_INDEX_I32; /* of calls on shards, this one alone writes positions */
    x->problem.index_base = INT32_MAX;
    CHECK_STATUS(TOPK_ERROR_INDEX_TOO_NARROW, selected(NULL, 1, values, indices));
    *x = good;
    x->problem.direction = TOPK_SMALLEST;
    x->state_bytes--;
    CHECK_STATUS(TOPK_ERROR_WORKSPACE_TOO_SMALL, selected(NULL, 1, values, indices));
    *x = good;
}

/* Index -2 and the padding value, in a row whose results are not known. */
static void check_slots(const float *values, const int64_t *indices, int64_t first_index) {
    enum { PITCH = 2 };
    for (int slot = 0; slot < PITCH; slot++) {
        const bool known = first_index >= 0;
        CHECK(indices[slot] == (known ? first_index + slot : -2));
        CHECK(known ? values[slot] == 0 : isinf(values[slot]));
    }
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
    CHECK_STATUS(TOPK_ERROR_BAD_STATE, selected(NULL, 1, NULL, numbers));
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
    CHECK_STATUS(TOPK_ERROR_BAD_STATE, selected_part(1, 1, numbers));
    CHECK_STATUS(TOPK_OK, selected_part(0, 1, numbers));
    CHECK_STATUS(TOPK_ERROR_BAD_STATE, selected_part(2, 1, numbers));
    CHECK_STATUS(TOPK_OK, selected_part(1, 1, numbers));
    CHECK_STATUS(TOPK_OK, selected_part(0, 1, numbers));
    CHECK_STATUS(TOPK_OK, begin());
}

/* On a GPU results say what is wrong: a state that was never begun, or for another problem. */
static void check_broken(void) {
    const shard *x = &one.shards[0];
    float values[2 * ROWS];
    int64_t own_k[ROWS] = {0}, indices[2 * ROWS] = {0};
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
        CHECK_STATUS(TOPK_OK, topk_sharded_select(context, &problem, x->state, x->state_bytes, &x->input,
                                                  NULL, 2, values, indices, NULL));
        for (int row = 0; row < ROWS; row++) {
            check_slots(values + 2 * (ptrdiff_t)row, indices + 2 * (ptrdiff_t)row, -2);
        }
    }
}

/* On a GPU no status tells that the results of a later part come first: they are wrong, and in bounds. */
static void check_later_part_first(void) {
    const shard *x = &one.shards[0];
    int64_t indices[3 * ROWS];
    memset(indices, 0x5a, sizeof indices);
    memset(x->state, 0x5a, x->state_bytes);
    CHECK_STATUS(TOPK_OK, begin());
    for (int round = 0; round < one.rounds; round++) {
        CHECK_STATUS(TOPK_OK, count(round));
        CHECK_STATUS(TOPK_OK, advance(round));
    }
    CHECK_STATUS(TOPK_OK, selected_part(1, one.problem.length_max, indices + ROWS));
    for (int i = 0; i < ROWS; i++) {
        CHECK(indices[i] == indices[0] && indices[2 * ROWS + i] == indices[0]);
    }
}

/* As many ties before the shard's as there cannot be: the sum of an exchange that failed. */
static void check_negative_before(bool on_gpu) {
    const shard *x = &one.shards[0];
    float values[2 * ROWS];
    int64_t own_k[ROWS], after[ROWS], better[ROWS], indices[2 * ROWS];
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
    CHECK_STATUS(on_gpu ? TOPK_OK : TOPK_ERROR_BAD_STATE, selected(before, 2, values, indices));
    if (on_gpu) {
        for (int row = 0; row < ROWS; row++) {
            check_slots(values + 2 * (ptrdiff_t)row, indices + 2 * (ptrdiff_t)row, row == 1 ? -2 : 0);
        }
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

/* After one round of three no row of equal elements has its results. */
static void check_unknown(void) {
    float values[2 * ROWS];
    int64_t indices[2 * ROWS];
    CHECK_STATUS(TOPK_OK, begin());
    CHECK_STATUS(TOPK_OK, count(0));
    CHECK_STATUS(TOPK_OK, advance(0));
    CHECK_STATUS(TOPK_OK, selected(NULL, 2, values, indices));
    for (int row = 0; row < ROWS; row++) {
        check_slots(values + 2 * (ptrdiff_t)row, indices + 2 * (ptrdiff_t)row, -2);
    }
}

static void check_refused(bool on_gpu) {
    enum { LENGTH = 1000 };
    static float values[ROWS * LENGTH];
    topk_sharded_properties properties = TOPK_SHARDED_PROPERTIES_INIT;
    shard *x = &one.shards[0];
    one.problem = (topk_problem)TOPK_PROBLEM_INIT;
    one.problem.type = TOPK_F32;
    one.problem.index_type = TOPK_INDEX_I64;
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
    check_selections();
    check_unknown();
    CHECK_STATUS(TOPK_OK, begin());
    if (on_gpu) {
        check_broken();
        check_later_part_first();
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
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.backend = on_gpu ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    options.threads = on_gpu ? 0 : 1;
    if (!CHECK_STATUS(TOPK_OK, topk_simple_create(&options, &simple))) {
        return check_report();
    }
    context = topk_simple_context(simple);
    check_refused(on_gpu);
    topk_simple_destroy(simple);
    return check_report();
}
