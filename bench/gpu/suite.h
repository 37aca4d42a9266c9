/* SPDX-License-Identifier: Apache-2.0
 *
 * A suite on a GPU, and what is written about it. */
#ifndef BENCH_GPU_SUITE_H
#define BENCH_GPU_SUITE_H

#include "gpu/gpu.h"

#include <stdio.h>

/* Runs all points and writes to stdout and, unless it is NULL, to csv. The number of points that failed. */
int bench_gpu_suite(bench_gpu_session *session, const bench_point *points, int count, FILE *csv);

#endif /* BENCH_GPU_SUITE_H */
