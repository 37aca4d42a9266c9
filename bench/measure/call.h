/* SPDX-License-Identifier: Apache-2.0
 *
 * The call of the library that a point stands for. */
#ifndef BENCH_CALL_H
#define BENCH_CALL_H

#include "check/check.h"
#include "points/dimensions.h"
#include "points/outputs.h"
#include "points/point.h"

typedef struct bench_call {
    topk_context *context;
    topk_problem problem;
    char tuning[BENCH_SETTINGS_BYTES];
    topk_predicate predicate;
    const bench_point *point;
    bench_outputs *outputs;
    void *workspace; /* of workspace_bytes; the user's to provide */
    size_t workspace_bytes;
    topk_stream stream; /* NULL on the CPU */
} bench_call;

/* Describes the call and asks for the size of its workspace. The truth has the
 * bound of a predicate. The call must stay where it is. On a failure `topk_last_error()` says why. */
topk_status bench_call_make(bench_call *call, topk_context *context, const bench_point *point,
                            const bench_truth *truth, bench_outputs *outputs);

/* The call itself. `state` is a bench_call. False if the library reports a failure. */
bool bench_call_run(void *state, const void *input);

#endif /* BENCH_CALL_H */
