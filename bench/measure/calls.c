/* SPDX-License-Identifier: Apache-2.0
 *
 * What calls take without Python, for calls.py: a loop in C. */
#include <time.h>

#include "topk.h"

/* Calls that select the k largest of each of `rows` rows. They go round the slots of a ring: each has an
 * input and outputs of its own, which lie slot behind slot. */
typedef struct bench_ring {
    topk_context *context;
    int type, order, index_type; /* as in topk_problem */
    int64_t rows, length, k, slots;
    const char *values;
    char *best, *positions;
    void *workspace;
    size_t workspace_bytes;
    topk_stream stream;
    int (*synchronise)(topk_stream); /* follows each call, unless NULL */
} bench_ring;

topk_context *bench_context(topk_backend backend, int threads);
double bench_select(const bench_ring *ring, int64_t calls);

/* A context as the Python package has it for a device; NULL if there is no such device. */
topk_context *bench_context(topk_backend backend, int threads) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context = NULL;
    options.backend = backend;
    options.threads = threads;
    return topk_context_create(&options, &context) == TOPK_OK ? context : NULL;
}

static int select_slot(const bench_ring *ring, topk_problem *problem, int64_t slot) {
    topk_input input = TOPK_INPUT_INIT;
    const int64_t taken = slot * ring->rows * ring->k;
    input.values = ring->values + slot * ring->rows * ring->length * (int64_t)topk_type_size(problem->type);
    return topk_select(ring->context, problem, &input,
                       ring->best + taken * (int64_t)topk_type_size(problem->type),
                       ring->positions + taken * (problem->index_type == TOPK_INDEX_I64 ? 8 : 4),
                       ring->workspace, ring->workspace_bytes, ring->stream) != TOPK_OK;
}

/* Mean seconds of calls, which begin with the first slot. -1 if one fails. */
double bench_select(const bench_ring *ring, int64_t calls) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    struct timespec begin, end;
    problem.type = (topk_type)ring->type;
    problem.order = (topk_order)ring->order;
    problem.index_type = (topk_index_type)ring->index_type;
    problem.rows = ring->rows;
    problem.length_max = ring->length;
    problem.k_max = ring->k;
    int failures = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int64_t i = 0, slot = 0; i < calls; ++i, slot = slot + 1 < ring->slots ? slot + 1 : 0) {
        failures += select_slot(ring, &problem, slot);
        failures += ring->synchronise != NULL && ring->synchronise(ring->stream) != 0;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    return failures == 0 ? seconds / (double)calls : -1;
}
