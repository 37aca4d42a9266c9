/* SPDX-License-Identifier: Apache-2.0 */
#include "points/peers.h"

#include "data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The lines of peers_h200.csv below its header, as string literals; the build makes them. */
static const char *const lines[] = {
#include "peers_h200.inc"
};
enum { count = sizeof lines / sizeof *lines };

/* The next field of a line; *at moves behind it. */
static void take(const char **at, char *field, size_t room) {
    const size_t length = strcspn(*at, ",");
    snprintf(field, room, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == ',');
}

static double take_number(const char **at) {
    char field[32];
    take(at, field, sizeof field);
    return strtod(field, NULL);
}

static bench_peer read_line(const char *at) {
    bench_peer peer;
    take(&at, peer.group, sizeof peer.group);
    peer.rows = (int64_t)take_number(&at);
    peer.n = (int64_t)take_number(&at);
    peer.k = (int64_t)take_number(&at);
    take(&at, peer.data, sizeof peer.data);
    peer.read_us = take_number(&at);
    peer.best_us = take_number(&at);
    take(&at, peer.best, sizeof peer.best);
    const double extra_us = take_number(&at);
    const double fused_us = take_number(&at);
    peer.air_us = fused_us == 0 || (extra_us > 0 && extra_us < fused_us) ? extra_us : fused_us;
    return peer;
}

const bench_peer *bench_peer_at(int i) {
    static bench_peer peers[count];
    if (peers[0].rows == 0) {
        for (int line = 0; line < count; ++line) {
            peers[line] = read_line(lines[line]);
        }
    }
    return i < count ? &peers[i] : NULL;
}

const bench_peer *bench_peer_of(const bench_point *point) {
    if (point->operation != TOPK_OPERATION_SELECT || point->type != TOPK_F32 ||
        point->direction != TOPK_LARGEST || point->index_type != TOPK_INDEX_I32) {
        return NULL;
    }
    const bench_peer *peer;
    for (int i = 0; (peer = bench_peer_at(i)) != NULL; ++i) {
        if (peer->rows == point->rows && peer->n == point->n && peer->k == point->k &&
            strcmp(peer->data, bench_distribution_name(point->distribution)) == 0) {
            return peer;
        }
    }
    return NULL;
}
