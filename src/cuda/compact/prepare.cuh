/* SPDX-License-Identifier: Apache-2.0
 * What has to be known before the pass, where the host cannot know it. */
#ifndef TOPK_SRC_CUDA_COMPACT_PREPARE_CUH
#define TOPK_SRC_CUDA_COMPACT_PREPARE_CUH

#include "../block.cuh"
#include "../lookback.cuh"
#include "../rows.cuh"
#include "bounds.cuh"
#include "tile.cuh"

struct prepare_shared {
    simt_shared<uint64_t> scratch; /* one for each warp */
    simt_shared<uint64_t> words;   /* the tile, and what is before it */
};

TOPK_HOST_DEVICE struct prepare_shared carve_prepare(simt_arena &arena) {
    struct prepare_shared s = {};
    s.scratch = simt_carve<uint64_t>(arena, SIMT_WARP);
    s.words = simt_carve<uint64_t>(arena, 2);
    return s;
}

/* The starts of one tile of rows. All threads. */
TOPK_DEVICE void find_starts(const struct compact_args &a, const struct prepare_shared &s, int64_t tile,
                             int64_t tiles) {
    const int64_t rows = a.rows.rows;
    const int64_t first = (tile * COMPACT_CHUNK_THREADS + simt_thread()) * COMPACT_ROWS;
    uint64_t lengths[COMPACT_ROWS], sum = 0, total;
#pragma unroll
    for (uint32_t i = 0; i < COMPACT_ROWS; i++) {
        lengths[i] = first + i < rows ? (uint64_t)row_at(a.rows, first + i).length : 0;
        sum += lengths[i];
    }
    uint64_t before = block_scan(s.scratch, sum, &total);
    if (simt_warp() == 0) {
        const struct sum_words words = sum_words_of(a.row_words, tiles);
        if (simt_lane() == 0)
            publish_sum(words, tile, total);
        uint64_t of_tiles = look_back(words, tile, total, look_ahead(words, tile));
        if (simt_lane() == 0)
            s.words[1] = of_tiles;
    }
    simt_block_sync();
    before += s.words[1];
#pragma unroll
    for (uint32_t i = 0; i < COMPACT_ROWS; i++) {
        if (first + i <= rows)
            a.starts[first + i] = (int64_t)before;
        before += lengths[i];
    }
}

TOPK_KERNEL TOPK_BOUNDS(COMPACT_CHUNK_THREADS, CHUNK_BLOCKS) void compact_prepare(struct compact_args a) {
    simt_arena arena = simt_shared_arena();
    struct prepare_shared s = carve_prepare(arena);
    simt_wait_predecessor();
    simt_allow_successor();
    if (a.bounds.bounds != nullptr && simt_block() == 0 && simt_thread() == 0)
        *a.found_match = match_of_bounds(a.bounds);
    if (a.dense || a.starts == nullptr)
        return;
    const int64_t of_tile = COMPACT_CHUNK_THREADS * COMPACT_ROWS;
    const int64_t tiles = a.rows.rows / of_tile + 1; /* rows + 1 starts */
    while (true) {
        if (simt_thread() == 0)
            s.words[0] = simt_atomic_add(&a.tickets[0], (uint64_t)1);
        simt_block_sync();
        int64_t tile = (int64_t)(uint64_t)s.words[0];
        if (tile >= tiles)
            return;
        find_starts(a, s, tile, tiles);
        simt_block_sync();
    }
}

#endif
