/* SPDX-License-Identifier: Apache-2.0
 *
 * Times, and quartiles of them. */
#ifndef BENCH_STATISTICS_H
#define BENCH_STATISTICS_H

#include <stdlib.h>
#include <time.h>

/* A monotonic time. */
static inline double bench_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct bench_quartiles {
    double q1, median, q3;
} bench_quartiles;

static inline int bench_ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double bench_quantile(const double *sorted, int count, double share) {
    const double position = share * (count - 1);
    const int below = (int)position, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

/* Quartiles, interpolated linearly between the sorted samples. Sorts them. count >= 1. */
static inline bench_quartiles bench_quartiles_of(double *samples, int count) {
    qsort(samples, (size_t)count, sizeof *samples, bench_ascending);
    const bench_quartiles quartiles = {bench_quantile(samples, count, 0.25),
                                       bench_quantile(samples, count, 0.5),
                                       bench_quantile(samples, count, 0.75)};
    return quartiles;
}

#endif /* BENCH_STATISTICS_H */
