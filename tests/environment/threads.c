/* SPDX-License-Identifier: Apache-2.0
 *
 * One context, many threads: each call has a workspace and outputs of its own, and the context's team does
 * the work of one call at a time. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random.h"
#include "topk_accumulator.h"

enum { THREADS = 4, ROUNDS = 12, LENGTH = 100000, K = 300 };

static float values[LENGTH];
static topk_context *context;
static int32_t expected[K];
static int64_t expected_matches;

typedef struct outcome {
    int wrong;
} outcome;

typedef struct scratch {
    void *memory;
    size_t bytes;
} scratch;

static topk_problem make_problem(void) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_F32;
    problem.length_max = LENGTH;
    problem.k_max = K;
    return problem;
}

static scratch workspace_for(topk_operation operation, const topk_problem *problem) {
    scratch s = {NULL, 0};
    if (topk_workspace_size(context, operation, problem, &s.bytes) == TOPK_OK) {
        s.memory = malloc(s.bytes + 1);
    }
    return s;
}

static int select_once(int32_t *indices) {
    topk_problem problem = make_problem();
    topk_input input = TOPK_INPUT_INIT;
    scratch s = workspace_for(TOPK_OPERATION_SELECT, &problem);
    input.values = values;
    topk_status status = topk_select(context, &problem, &input, NULL, indices, s.memory, s.bytes, NULL);
    free(s.memory);
    return status == TOPK_OK;
}

static int64_t count_matches(void) {
    topk_problem problem = make_problem();
    topk_input input = TOPK_INPUT_INIT;
    topk_predicate predicate = TOPK_PREDICATE_INIT;
    scratch s = workspace_for(TOPK_OPERATION_WHERE, &problem);
    scratch s_count = workspace_for(TOPK_OPERATION_COUNT, &problem);
    int64_t offsets[2] = {-1, -1}, count = -1;
    input.values = values;
    predicate.kind = TOPK_LT;
    predicate.low.value.f64 = 0.25;
    (void)topk_where(context, &problem, &input, &predicate, NULL, NULL, 0, offsets, s.memory, s.bytes, NULL);
    (void)topk_count(context, &problem, &input, &predicate, &count, s_count.memory, s_count.bytes, NULL);
    free(s.memory);
    free(s_count.memory);
    return offsets[1] == count ? count : -1;
}

static int accumulate_once(int32_t *indices) {
    topk_problem problem = make_problem();
    topk_input input = TOPK_INPUT_INIT;
    size_t bytes = 0;
    int ok = topk_accumulator_size(context, &problem, &bytes) == TOPK_OK;
    void *state = malloc(bytes + 1);
    input.values = values;
    ok = ok && topk_accumulator_init(context, &problem, state, bytes, NULL) == TOPK_OK &&
         topk_accumulator_push(context, &problem, state, bytes, &input, LENGTH, 0, NULL) == TOPK_OK &&
         topk_accumulator_finish(context, &problem, state, bytes, NULL, indices, NULL) == TOPK_OK;
    free(state);
    return ok;
}

static void *work(void *argument) {
    outcome *out = argument;
    int32_t indices[K];
    for (int round = 0; round < ROUNDS; round++) {
        out->wrong += !select_once(indices) || memcmp(indices, expected, sizeof indices) != 0;
        out->wrong += !accumulate_once(indices) || memcmp(indices, expected, sizeof indices) != 0;
        out->wrong += count_matches() != expected_matches;
        out->wrong += topk_backend_status((topk_backend)3) != TOPK_ERROR_UNKNOWN_ENUM;
        out->wrong += topk_last_error()[0] == '\0';
    }
    return NULL;
}

int main(void) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    random_state random = {1};
    pthread_t threads[THREADS];
    outcome outcomes[THREADS] = {{0}};
    options.backend = TOPK_BACKEND_CPU;
    options.threads = 3;
    for (int i = 0; i < LENGTH; i++) {
        values[i] = (float)random_unit(&random);
        expected_matches += values[i] < 0.25F;
    }
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    CHECK(select_once(expected));
    for (int t = 0; t < THREADS; t++) {
        CHECK(pthread_create(&threads[t], NULL, work, &outcomes[t]) == 0);
    }
    for (int t = 0; t < THREADS; t++) {
        CHECK(pthread_join(threads[t], NULL) == 0);
        CHECK(outcomes[t].wrong == 0);
    }
    topk_context_destroy(context);
    return check_report();
}
