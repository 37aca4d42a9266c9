/* SPDX-License-Identifier: Apache-2.0
 *
 * One point from the data to the figures: make the data and the truth about it, call, check, time, check
 * again. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "measure/device.h"

/* Takes one result of a point; `state` is the caller's. */
typedef void bench_sink(void *state, const bench_session *session, const bench_result *result);

/* Runs a point and hands over a result for each line that the options ask for. */
void bench_run(bench_session *session, const bench_point *point, bench_sink *sink, void *state);

/* Whether the checks notice what they must; tells on stdout. */
bool bench_run_self_test(bench_session *session);

/* For devices: note in the result what went wrong, and return false. */
bool bench_fail(const bench_session *session, bench_result *result, bench_outcome outcome, const char *why);
/* An error that either the device or the library can explain. */
bool bench_fail_somewhere(const bench_session *session, bench_result *result);
/* What could not be made: because of an error of the device, or else too little memory. */
bool bench_fail_to_make(const bench_session *session, bench_result *result, const char *what);

#endif /* BENCH_RUN_H */
