/* SPDX-License-Identifier: Apache-2.0
 *
 * What published implementations take for where: float32 uniform in (0, 1], int32 indices of the elements
 * above a bound, one row that is not in the cache. Measured as peers.h says; the rows of
 * peers_where_h200.csv. */
#ifndef BENCH_WHERE_PEERS_H
#define BENCH_WHERE_PEERS_H

#include "points/point.h"

typedef struct bench_where_peer {
    int64_t n;
    int keep_percent;
    double read_us;    /* one read of the input, there */
    double flagged_us; /* cub::DeviceSelect::Flagged, given one byte for each element that says whether it is
                          kept */
    double if_us;      /* cub::DeviceSelect::If over positions, with a predicate that reads the element */
    double copy_if_us; /* thrust::copy_if likewise */
    double nonzero_us; /* torch.nonzero */
} bench_where_peer;

/* The peers that were measured on this point; NULL if none were. */
const bench_where_peer *bench_where_peer_of(const bench_point *point);

#endif /* BENCH_WHERE_PEERS_H */
