/* SPDX-License-Identifier: Apache-2.0
 *
 * The call of the library that a point stands for. */
#ifndef BENCH_CALL_H
#define BENCH_CALL_H

#include "points/outputs.h"
#include "points/point.h"

typedef struct bench_call {
    topk_context *context;
    topk_problem problem;
    topk_predicate predicate;
    const bench_point *point;
    bench_outputs *outputs;
    void *workspace;
    size_t workspace_bytes;
} bench_call;

/* Prepares the call: all that is not to be timed. `bound` is that of where. On a failure, and for the
 * rest of the program's run, `topk_last_error()` says why; free the call in any case. */
topk_status bench_call_make(bench_call *call, topk_context *context, const bench_point *point, double bound,
                            bench_outputs *outputs);
void bench_call_free(bench_call *call);

/* The call itself. `state` is a bench_call. False if the library reports a failure. */
bool bench_call_run(void *state, const void *input);

#endif /* BENCH_CALL_H */
