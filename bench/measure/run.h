/* SPDX-License-Identifier: Apache-2.0
 *
 * One point from the data to the figures: make the data and the truth about it, call, check, time,
 * check again. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "baselines/baselines.h"
#include "check/check.h"
#include "check/self_test.h"
#include "data/data.h"
#include "measure/pairs.h"

/* What holds for all points. Data is kept from one point to the next where it can be. */
typedef struct bench_session {
    topk_context *context;
    const char *features; /* instruction sets that the library uses */
    int threads;
    int pairs;
    bool cold;
    bool rivals;
    uint64_t seed;
    /* NULL, or what spoils the outputs of the call before they are checked: a test of the checks. */
    bench_spoil *tamper;
    bench_data data;
    bench_truth truth; /* of the point at hand */
} bench_session;

/* One line of the results. Where not `correct`, there are no times. */
typedef struct bench_result {
    const bench_point *point;
    const char *name; /* "topk" or that of the rival */
    int threads;
    int pairs;
    int64_t k; /* where: the number of matches */
    bool correct;
    char reason[192]; /* why not */
    const char *reader;
    int reader_threads;
    bench_times times;
    size_t workspace_bytes;
} bench_result;

/* Takes one result of a point; `state` is the caller's. */
typedef void bench_sink(void *state, const bench_session *session, const bench_result *result);

/* Runs a point, and the rivals if the session has them, and hands over a result for each. False if any
 * of them was wrong. */
bool bench_run(bench_session *session, const bench_point *point, bench_sink *sink, void *state);

void bench_session_free(bench_session *session);

#endif /* BENCH_RUN_H */
