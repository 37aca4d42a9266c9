/* SPDX-License-Identifier: Apache-2.0
 *
 * What one would write without the library, run beside it. */
#ifndef BENCH_BASELINES_H
#define BENCH_BASELINES_H

#include "points/outputs.h"
#include "points/point.h"

BENCH_C_BEGIN

typedef struct bench_task {
    const bench_point *point;
    const void *input;
    const bench_outputs *outputs;
    double bound; /* where: the elements above this are sought */
    int threads;
    void *scratch; /* of bench_baseline_scratch() bytes; may hold garbage */
} bench_task;

typedef struct bench_baseline {
    const char *name;
    bool gives_indices;
    bool (*can)(const bench_point *point);
    void (*run)(const bench_task *task);
} bench_baseline;

extern const bench_baseline bench_baselines[];
extern const int bench_baseline_count;

/* Rows are shared out to the threads; a single row is worked on by one, as the standard library does. */
int bench_baseline_threads(const bench_point *point, int threads);

/* Enough for any baseline, so that none of them allocates while it is timed. */
size_t bench_baseline_scratch(const bench_point *point, int threads);

BENCH_C_END

#endif /* BENCH_BASELINES_H */
