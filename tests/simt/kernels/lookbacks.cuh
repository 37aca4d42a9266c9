/* SPDX-License-Identifier: Apache-2.0
 * The library's own look-back, over more tiles than any launch of a test has at work. */
#ifndef TOPK_TESTS_SIMT_LOOKBACKS_CUH
#define TOPK_TESTS_SIMT_LOOKBACKS_CUH

#include "lookback.cuh"

struct distant_args {
    uint64_t *words; /* of `tiles` tiles, 0 */
    int64_t tiles;
    const int64_t *from; /* a tile for each warp */
    uint64_t *before;    /* a sum for each warp */
};

/* One block. Tile t has the sum t + 1; nobody has a prefix at first. before = the sum of all tiles before the
 * warp's. */
TOPK_KERNEL void distant_sums(struct distant_args args) {
    const struct sum_words words = sum_words_of(args.words, args.tiles);
    for (int64_t tile = simt_thread(); tile < args.tiles; tile += simt_threads())
        publish_sum(words, tile, (uint64_t)tile + 1);
    const int64_t tile = args.from[simt_warp()];
    uint64_t before = look_back(words, tile, (uint64_t)tile + 1, look_ahead(words, tile));
    if (simt_lane() == 0)
        args.before[simt_warp()] = before;
}

/* A tile for each thread of the grid, in the order of tickets, each with the same sums as above, SUMS apart.
 */
enum { SUMS = 3 };

struct walk_args {
    uint64_t *words;  /* SUMS for each thread, 0 */
    uint64_t *ticket; /* 0 */
    uint64_t *before; /* of each tile */
};

TOPK_KERNEL void walked_sums(struct walk_args args) {
    const int64_t tile = (int64_t)simt_atomic_add(args.ticket, (uint64_t)1);
    publish_tile(args.words + 1, SUMS, tile, (uint64_t)tile + 1);
    args.before[tile] = collect_tiles(args.words + 1, SUMS, tile, (uint64_t)tile + 1);
}

#endif
