/* SPDX-License-Identifier: Apache-2.0
 * Prefixes of the ordered filter where blocks share a row: they draw tiles in ascending order and look back
 * (lookback.cuh). */
#ifndef TOPK_SRC_CUDA_SELECT_ORDERED_LOOKBACK_CUH
#define TOPK_SRC_CUDA_SELECT_ORDERED_LOOKBACK_CUH

#include "../lookback.cuh"
#include "args.h"
#include "ordered_filter.cuh"

struct lookback_prefixes {
    static const bool SKIPS = false; /* the tiles behind wait for its sums */
    struct hit_totals wanted;
    simt_shared<uint32_t> scratch; /* of scans */
    simt_shared<uint64_t> bases;   /* 2 */
    const struct lookback_args &lookback;
    int64_t row;
    uint64_t *ticket;   /* of the next tile; zero before the launch */
    uint64_t *finished; /* 1: all hits are found; zero before the launch */

    /* The number of the next tile, or -1 if the rest need not be read. A block that draws a tile must publish
     * its sums: others may wait for them. All threads. */
    TOPK_MEMBER int64_t next(void) const {
        simt_block_sync();
        if (simt_thread() == 0)
            bases[0] = simt_load_relaxed(finished) != 0 ? ~(uint64_t)0 : simt_atomic_add(ticket, (uint64_t)1);
        simt_block_sync();
        int64_t tile = (int64_t)(uint64_t)bases[0];
        if (tile < 0)
            TOPK_REACHED(REACHED_SELECT_ALL_FOUND);
        simt_block_sync();
        return tile;
    }
    /* What comes before a tile that has `counts` hits. All threads. */
    TOPK_MEMBER struct hit_totals before(int64_t tile, uint32_t counts) const {
        const uint32_t winners = low_hits(counts), ties = high_hits(counts);
        uint64_t *words = lookback.words + 2 * row * lookback.sum_words;
        const struct sum_words winner_sums = sum_words_of(words, lookback.tiles),
                               tie_sums = sum_words_of(words + lookback.sum_words, lookback.tiles);
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
                    simt_store_relaxed(finished, (uint64_t)1);
            }
        }
        simt_block_sync();
        return hit_totals{bases[0], bases[1]};
    }
};

#endif
