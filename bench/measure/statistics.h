/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_STATISTICS_H
#define BENCH_STATISTICS_H

typedef struct bench_quartiles {
    double q1, median, q3;
} bench_quartiles;

/* Quartiles, interpolated linearly between the sorted samples. Sorts them. count >= 1. */
bench_quartiles bench_quartiles_of(double *samples, int count);

#endif /* BENCH_STATISTICS_H */
