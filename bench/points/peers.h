/* SPDX-License-Identifier: Apache-2.0
 *
 * What published implementations take: float32, the k largest with int32 indices in any order, ties
 * free, inputs not in the cache. Medians of at least 11 runs on an NVIDIA H200 with driver 580.159.04
 * and CUDA 13.0 on 2026-11-20; the rows of peers_h200.csv. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "points/point.h"

typedef struct bench_peer {
    char group[16]; /* "one-row", "100-rows", "sampling", "indexer", "row-wise", "routing" */
    int64_t rows, n, k;
    char data[16];  /* name of the distribution */
    double read_us; /* one read of the input, there */
    double best_us; /* the fastest of all */
    char best[48];  /* its name */
    double air_us;  /* the faster of RAFT's two variants of AIR Top-K; 0: not measured here */
} bench_peer;

/* The peers one by one, NULL past the last. */
const bench_peer *bench_peer_at(int i);

/* The peer that was measured on this point; NULL if none was. */
const bench_peer *bench_peer_of(const bench_point *point);

#endif /* BENCH_PEERS_H */
