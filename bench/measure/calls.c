/* SPDX-License-Identifier: Apache-2.0
 *
 * What calls take without Python, for python_overhead.py: a loop in C. */
#include <time.h>

#include "topk.h"

topk_context *bench_context(topk_backend backend);
double bench_select(topk_context *context, int64_t rows, int64_t length, int64_t k, const float *values,
                    float *best, int64_t *positions, void *workspace, size_t bytes, topk_stream stream,
                    int (*synchronise)(topk_stream), int64_t calls);

/* A context as the Python package has it for a device; NULL if there is no such device. */
topk_context *bench_context(topk_backend backend) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context = NULL;
    options.backend = backend;
    return topk_context_create(&options, &context) == TOPK_OK ? context : NULL;
}

/* Mean seconds of calls that select the k largest, best first. Each is followed by synchronise(stream),
 * unless that is NULL. -1 if one fails. */
double bench_select(topk_context *context, int64_t rows, int64_t length, int64_t k, const float *values,
                    float *best, int64_t *positions, void *workspace, size_t bytes, topk_stream stream,
                    int (*synchronise)(topk_stream), int64_t calls) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_input input = TOPK_INPUT_INIT;
    struct timespec begin, end;
    problem.type = TOPK_F32;
    problem.index_type = TOPK_INDEX_I64;
    problem.rows = rows;
    problem.length_max = length;
    problem.k_max = k;
    input.values = values;
    int failures = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int64_t i = 0; i < calls; ++i) {
        failures +=
            topk_select(context, &problem, &input, best, positions, workspace, bytes, stream) != TOPK_OK;
        failures += synchronise != NULL && synchronise(stream) != 0;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    return failures == 0 ? seconds / (double)calls : -1;
}
