/* SPDX-License-Identifier: Apache-2.0
 *
 * The benchmark on the CPU. */
#ifndef BENCH_CPU_H
#define BENCH_CPU_H

#include "measure/run.h"
#include "points/suites.h"

#include <stdio.h>

/* Runs all points with the session's options, and writes to stdout and, unless it is NULL, to csv. The
 * number of points that failed. */
int bench_cpu_suite(bench_session *session, const bench_point *points, int count, FILE *csv);

/* Whether the checks notice what they must, and every read kernel reads every byte. */
bool bench_cpu_self_test(bench_session *session);

#endif /* BENCH_CPU_H */
