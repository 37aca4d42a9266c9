/* SPDX-License-Identifier: Apache-2.0
 *
 * Our times over those of published implementations on an H200, point by point. */
#ifndef BENCH_COMPARISON_H
#define BENCH_COMPARISON_H

#include "gpu/gpu.h"
#include "points/peers.h"

#include <stdio.h>

/* Sums over the points of one group that one method solved. */
typedef struct bench_comparison_group {
    char method[28];
    const char *group;
    int points, invalid;
    int air_points, air_within; /* compared with AIR Top-K; no slower than the tolerance allows */
    double air_log;             /* sum of the logarithms of the ratios */
    int best_within;            /* at least as fast as the fastest of all */
    double best_log;
} bench_comparison_group;

typedef struct bench_comparison {
    bench_comparison_group groups[32];
    int count;
} bench_comparison;

/* Ratios of one result. */
typedef struct bench_ratios {
    const bench_peer *peer;
    double to_air; /* 0: AIR Top-K was not measured here */
    double to_best;
} bench_ratios;

/* A peer's ratios to an eager call of the library; the peer is NULL where there is nothing to compare. */
bench_ratios bench_ratios_of(const bench_gpu_result *result);

/* Whether the result is no more than a tenth slower than AIR Top-K was. */
bool bench_ratios_pass(const bench_ratios *ratios);

void bench_comparison_add(bench_comparison *comparison, const bench_gpu_result *result);

/* Writes a line for each group and method, and one for each method. */
void bench_comparison_write(const bench_comparison *comparison, FILE *out);

#endif /* BENCH_COMPARISON_H */
