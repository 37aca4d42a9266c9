/* SPDX-License-Identifier: Apache-2.0
 *
 * Our times over those of published implementations on an H200, point by point. */
#ifndef BENCH_COMPARISON_H
#define BENCH_COMPARISON_H

#include "gpu/gpu.h"
#include "points/peers.h"
#include "points/where_peers.h"

#include <stdio.h>

/* Sums over the points of one group that one method solved. */
typedef struct bench_comparison_group {
    char method[28];
    const char *group;
    const char *peer; /* what a ratio is about, besides the best of all */
    double tolerance; /* what it may be */
    int points, invalid;
    int peer_points, peer_within; /* compared with that peer; no slower than the tolerance allows */
    double peer_log;              /* sum of the logarithms of the ratios */
    int best_within;              /* at least as fast as the fastest of all */
    double best_log;
} bench_comparison_group;

typedef struct bench_comparison {
    bench_comparison_group groups[32];
    int count;
} bench_comparison;

/* Ratios of one result. The peer is, for select, AIR Top-K; for where, the fastest that decides for itself
 * which elements match. The fastest of all for where is given that decision. */
typedef struct bench_ratios {
    const char *group; /* NULL: there is nothing to compare */
    const char *peer;
    double to_peer; /* 0: the peer was not measured here */
    double tolerance;
    const char *best;
    double to_best;
} bench_ratios;

/* The ratios of an eager call of the library. */
bench_ratios bench_ratios_of(const bench_gpu_result *result);

/* Whether the result is within the tolerance: for select no more than a tenth slower than the peer was, for
 * where no slower. */
bool bench_ratios_pass(const bench_ratios *ratios);

void bench_comparison_add(bench_comparison *comparison, const bench_gpu_result *result);

/* Writes a line for each group and method, and one for each method. */
void bench_comparison_write(const bench_comparison *comparison, FILE *out);

#endif /* BENCH_COMPARISON_H */
