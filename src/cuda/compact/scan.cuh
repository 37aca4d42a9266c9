/* SPDX-License-Identifier: Apache-2.0
 * A scan of many numbers, which reads them once. */
#ifndef TOPK_SRC_CUDA_COMPACT_SCAN_CUH
#define TOPK_SRC_CUDA_COMPACT_SCAN_CUH

#include "../block.cuh"
#include "../lookback.cuh"
#include "sizes.h"

struct scan_shared {
    simt_shared<uint64_t> scratch; /* one for each warp */
    simt_shared<uint64_t> words;   /* the tile, and its prefix */
};

TOPK_HOST_DEVICE struct scan_shared carve_scan(simt_arena &arena) {
    struct scan_shared s = {};
    s.scratch = simt_carve<uint64_t>(arena, SIMT_WARP);
    s.words = simt_carve<uint64_t>(arena, 2);
    return s;
}

/* Calls put(i, sum) for i from 0 to count, with the sum of all numbers.of(j), j < i. Blocks of
 * COMPACT_CHUNK_THREADS; all threads. `ticket` and the words, for count / COMPACT_SCANNED + 1 tiles, were
 * zero before the launch. */
template <typename Numbers>
TOPK_DEVICE void scan_numbers(const Numbers &numbers, int64_t count, uint64_t *ticket, uint64_t *words_at,
                              int64_t word_count, const struct scan_shared &s) {
    const struct sum_words words = sum_words_of(words_at, word_count);
    while (true) {
        if (simt_thread() == 0)
            s.words[0] = simt_atomic_add(ticket, (uint64_t)1);
        simt_block_sync();
        const int64_t tile = (int64_t)(uint64_t)s.words[0];
        if (tile > count / COMPACT_SCANNED)
            return;
        const int64_t first = tile * COMPACT_SCANNED + simt_thread() * COMPACT_SCANNED_EACH;
        uint64_t own[COMPACT_SCANNED_EACH], sum = 0, total;
#pragma unroll
        for (uint32_t i = 0; i < COMPACT_SCANNED_EACH; i++) {
            own[i] = first + i < count ? numbers.of(first + i) : 0;
            sum += own[i];
        }
        uint64_t before = block_scan(s.scratch, sum, &total);
        if (simt_warp() == 0) {
            if (simt_lane() == 0)
                publish_sum(words, tile, total);
            uint64_t of_tiles = look_back(words, tile, total, look_ahead(words, tile));
            if (simt_lane() == 0)
                s.words[1] = of_tiles;
        }
        simt_block_sync();
        before += s.words[1];
#pragma unroll
        for (uint32_t i = 0; i < COMPACT_SCANNED_EACH; i++) {
            if (first + i <= count)
                numbers.put(first + i, before);
            before += own[i];
        }
        simt_block_sync();
    }
}

#endif
