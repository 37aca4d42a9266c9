/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_STATISTICS_H
#define BENCH_STATISTICS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_quartiles {
    double q1, median, q3;
} bench_quartiles;

/* Quartiles, interpolated linearly between the sorted samples. Sorts them. count >= 1. */
bench_quartiles bench_quartiles_of(double *samples, int count);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_STATISTICS_H */
