/* SPDX-License-Identifier: Apache-2.0
 *
 * Data made against the samples of the bracket method: whoever knows the seed can make each guess fail, and
 * a context with another seed, or one that drew its own, works no more than for any data. Results are the
 * same. Over the library with tiny internal sizes, which counts the failed guesses. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cpu/kernels/kernels.h"
#include "random.h"
#include "reached.h"

enum { ROWS = 100, LENGTH = 200, K = 180, SEEDS = 20, MOST_BY_CHANCE = SEEDS * ROWS / 2 };

typedef struct results {
    uint32_t values[2][ROWS * K];
    int32_t indices[2][ROWS * K];
    uint32_t kth[ROWS];
    int64_t better[ROWS], equal[ROWS];
} results;

static uint32_t values[ROWS * LENGTH];
static unsigned char workspace[1 << 22];

static topk_context *create(uint64_t seed) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context = NULL;
    options.backend = TOPK_BACKEND_CPU;
    options.threads = 1;
    options.seed = seed;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    return context;
}

static topk_problem problem_of(const char *method) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_U32;
    problem.rows = ROWS;
    problem.length_max = LENGTH;
    problem.k_max = K;
    problem.method = method;
    return problem;
}

static void run(uint64_t seed, const topk_problem *problem, results *out) {
    topk_context *context = create(seed);
    topk_input input = TOPK_INPUT_INIT;
    topk_predicate most = TOPK_PREDICATE_INIT;
    input.values = values;
    most.kind = TOPK_GT;
    most.low.value.f64 = 3;
    memset(out, 0, sizeof *out);
    CHECK_STATUS(TOPK_OK, topk_select(context, problem, &input, out->values[0], out->indices[0], workspace,
                                      sizeof workspace, NULL));
    CHECK_STATUS(TOPK_OK, topk_select_where(context, problem, &input, &most, out->values[1], out->indices[1],
                                            workspace, sizeof workspace, NULL));
    CHECK_STATUS(TOPK_OK, topk_kth(context, problem, &input, out->kth, out->better, out->equal, workspace,
                                   sizeof workspace, NULL));
    topk_context_destroy(context);
}

/* Where a context of this seed looks: in attempts 0 and 1 of the bracket, and in the first counting pass. */
static void mark_samples(uint64_t seed, bool sampled[LENGTH]) {
    const uint64_t seeds[] = {seed + 0x9e3779b97f4a7c15u, seed + 2 * 0x9e3779b97f4a7c15u, seed + K};
    const size_t samples[] = {SAMPLES_MAX, SAMPLES_MAX, COUNTING_SAMPLES};
    memset(sampled, 0, LENGTH * sizeof *sampled);
    for (int look = 0; look < 3; look++) {
        const size_t runs = samples[look] / SAMPLE_GROUP;
        for (size_t i = 0; i < runs; i++) {
            memset(sampled + sample_position(i, LENGTH / runs, seeds[look]), 1, SAMPLE_GROUP);
        }
    }
}

/* All that a context of this seed samples is better than the k-th. Some elements are equal. */
static void aim(uint64_t seed) {
    random_state random = {seed};
    bool sampled[LENGTH];
    mark_samples(seed, sampled);
    for (int i = 0; i < ROWS * LENGTH; i++) {
        values[i] = (uint32_t)random_below(&random, 1000) + (sampled[i % LENGTH] ? 1000 : 0);
    }
}

static void fill(int64_t below) {
    random_state random = {(uint64_t)below};
    for (int i = 0; i < ROWS * LENGTH; i++) {
        values[i] = (uint32_t)random_below(&random, below);
    }
}

/* How often a select of all rows takes a path. */
static unsigned long times(uint64_t seed, enum topk_reached_path path, size_t workspace_limit) {
    topk_context *context = create(seed);
    topk_problem problem = problem_of("bracket");
    topk_input input = TOPK_INPUT_INIT;
    static uint32_t out[ROWS * K];
    input.values = values;
    problem.workspace_limit = workspace_limit;
    const unsigned long before = topk_reached_counts[path];
    CHECK_STATUS(TOPK_OK,
                 topk_select(context, &problem, &input, out, NULL, workspace, sizeof workspace, NULL));
    topk_context_destroy(context);
    return topk_reached_counts[path] - before;
}

/* A workspace that leaves no room for a pool, so that rows are counted. */
static size_t without_pool(void) {
    topk_context *context = create(1);
    const topk_problem problem = problem_of("bracket");
    size_t bytes = 0;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(context, TOPK_OPERATION_SELECT, &problem, &bytes));
    topk_context_destroy(context);
    return bytes - 1;
}

static void check_aimed(void) {
    const size_t limit = without_pool();
    aim(77);
    CHECK(times(77, REACHED_BRACKET_FALLBACK, 0) == ROWS);
    CHECK(times(77, REACHED_COUNTING_MISS, limit) == ROWS);
    unsigned long fallbacks = 0, misses = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        fallbacks += times(seed, REACHED_BRACKET_FALLBACK, 0);
        misses += times(seed, REACHED_COUNTING_MISS, limit);
    }
    CHECK(fallbacks < MOST_BY_CHANCE && misses < MOST_BY_CHANCE);
    fallbacks = misses = 0;
    aim(0); /* as if contexts had no seeds */
    for (int context = 0; context < SEEDS; context++) {
        fallbacks += times(0, REACHED_BRACKET_FALLBACK, 0);
        misses += times(0, REACHED_COUNTING_MISS, limit);
    }
    CHECK(fallbacks < MOST_BY_CHANCE && misses < MOST_BY_CHANCE);
}

/* The same bits for every seed as by a method that draws no sample. */
static void check_same_results(void) {
    static results expected, found;
    topk_problem problem = problem_of("reference");
    run(1, &problem, &expected);
    problem.method = "bracket";
    for (uint64_t seed = 0; seed <= SEEDS; seed++) {
        run(seed, &problem, &found);
        CHECK(memcmp(&expected, &found, sizeof found) == 0);
    }
}

int main(void) {
    check_aimed();
    aim(7);
    check_same_results();
    fill(UINT32_MAX);
    check_same_results();
    fill(5); /* plateaus, and few matches */
    check_same_results();
    return check_report();
}
