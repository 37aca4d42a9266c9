/* SPDX-License-Identifier: Apache-2.0
 *
 * A test of the checks: results are spoilt, one way after another, before they are checked. */
#ifndef BENCH_SELF_TEST_H
#define BENCH_SELF_TEST_H

#include "points/outputs.h"
#include "points/suites.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What came of a point. */
typedef struct bench_verdict {
    bool correct, timed;
    char reason[192];
} bench_verdict;

/* Runs a point, with a result that is spoilt before it is checked unless `spoil` is NULL. */
typedef void bench_trial_run(void *state, const bench_point *point, bench_spoil *spoil, bench_verdict *seen);

/* `device` is "cpu" or "cuda". True if every right result passed, and every wrong one was rejected without a
 * time; tells on stdout. */
bool bench_self_test(const char *device, bench_trial_run *run, void *state);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_SELF_TEST_H */
