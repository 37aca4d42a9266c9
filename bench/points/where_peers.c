/* SPDX-License-Identifier: Apache-2.0 */
#include "points/where_peers.h"

#include "data/data.h"

#include <stdio.h>
#include <string.h>

/* The lines of peers_where_h200.csv below its header, as string literals; the build makes them. */
static const char *const lines[] = {
#include "peers_where_h200.inc"
};
enum { count = sizeof lines / sizeof *lines };

static bench_where_peer read_line(const char *line) {
    bench_where_peer peer = {0};
    long long n = 0;
    const int fields = sscanf(line, "%lld,%d,%lf,%lf,%lf,%lf,%lf", &n, &peer.keep_percent, &peer.read_us,
                              &peer.flagged_us, &peer.if_us, &peer.copy_if_us, &peer.nonzero_us);
    peer.n = fields == 7 ? (int64_t)n : -1;
    return peer;
}

const bench_where_peer *bench_where_peer_of(const bench_point *point) {
    static bench_where_peer peers[count];
    if (point->operation != TOPK_OPERATION_WHERE || point->type != TOPK_F32 || point->rows != 1 ||
        point->index_type != TOPK_INDEX_I32 || point->predicate != BENCH_GREATER ||
        point->wanted != BENCH_INDICES ||
        strcmp(bench_distribution_name(point->distribution), "uniform") != 0) {
        return NULL;
    }
    for (int i = 0; i < count; ++i) {
        if (peers[i].n == 0) {
            peers[i] = read_line(lines[i]);
        }
        if (peers[i].n == point->n && peers[i].keep_percent == point->keep_percent) {
            return &peers[i];
        }
    }
    return NULL;
}
