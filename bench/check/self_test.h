/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_SELF_TEST_H
#define BENCH_SELF_TEST_H

#include "measure/run.h"

/* Runs small points whose results are spoilt, one way after another, before they are checked. True if
 * every right result passed, every spoilt one was rejected without a time, and every read kernel reads
 * every byte. */
bool bench_self_test(bench_session *session);

#endif /* BENCH_SELF_TEST_H */
