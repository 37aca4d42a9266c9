/* SPDX-License-Identifier: Apache-2.0
 * Prefixes of the ordered filter where blocks share a row: they draw tiles in ascending order and look back
 * (lookback.cuh). */
#ifndef TOPK_SRC_CUDA_SELECT_ORDERED_LOOKBACK_CUH
#define TOPK_SRC_CUDA_SELECT_ORDERED_LOOKBACK_CUH

#include "../lookback.cuh"
#include "ordered_filter.cuh"

/* In global memory, zero before the launch. */
struct ordered_progress {
    uint64_t *ticket;   /* of the next tile */
    uint64_t *finished; /* 1: all hits are found */
    /* Look-back over `tiles` tiles: two sums of `sum_words` words each. */
    int64_t tiles, sum_words;
    uint64_t *words;
};

struct lookback_prefixes {
    static const bool SKIPS = false; /* the tiles behind wait for its sums */
    struct hit_totals wanted;
    simt_shared<uint32_t> scratch; /* of scans */
    simt_shared<uint64_t> bases;   /* 2 */
    struct ordered_progress progress;

    /* The number of the next tile, or -1 if the rest need not be read. A block that draws a tile must publish
     * its sums: others may wait for them. All threads. */
    TOPK_MEMBER int64_t next(void) const {
        simt_block_sync();
        if (simt_thread() == 0)
            bases[0] = simt_load_relaxed(progress.finished) != 0
                           ? ~(uint64_t)0
                           : simt_atomic_add(progress.ticket, (uint64_t)1);
        simt_block_sync();
        int64_t tile = (int64_t)(uint64_t)bases[0];
        simt_block_sync();
        return tile;
    }
    /* What comes before a tile that has `counts` hits. All threads. */
    TOPK_MEMBER struct hit_totals before(int64_t tile, uint32_t counts) const {
        const uint32_t winners = low_hits(counts), ties = high_hits(counts);
        const struct sum_words winner_sums = sum_words_of(progress.words, progress.tiles),
                               tie_sums = sum_words_of(progress.words + progress.sum_words, progress.tiles);
        if (simt_warp() == 0) {
            if (simt_lane() == 0) {
                publish_sum(winner_sums, tile, winners);
                publish_sum(tie_sums, tile, ties);
            }
            uint64_t winners_before = look_back(winner_sums, tile, winners, look_ahead(winner_sums, tile));
            uint64_t ties_before = look_back(tie_sums, tile, ties, look_ahead(tie_sums, tile));
            if (simt_lane() == 0) {
                bases[0] = winners_before;
                bases[1] = ties_before;
                if (winners_before >= wanted.winners && ties_before >= wanted.ties)
                    simt_store_relaxed(progress.finished, (uint64_t)1);
            }
        }
        simt_block_sync();
        return hit_totals{bases[0], bases[1]};
    }
};

#endif
