/* SPDX-License-Identifier: Apache-2.0
 * A block's histogram of one digit, in shared memory. */
#ifndef TOPK_SRC_CUDA_SELECT_HISTOGRAM_CUH
#define TOPK_SRC_CUDA_SELECT_HISTOGRAM_CUH

#include "range.cuh"
#include "share.cuh"
#include "sizes.h"

/* A histogram has one bin more, for elements that do not count: that saves a branch for each. Nobody reads
 * it. */
static const uint32_t OTHER_BIN = SELECT_BINS_MAX;

TOPK_DEVICE void clear_bins(simt_shared<uint32_t> bins, uint32_t count) {
    for (uint32_t bin = simt_thread(); bin < count; bin += simt_threads())
        bins[bin] = 0;
}

/* Adds the bins to a row's bins, in global memory, and clears them. */
TOPK_DEVICE void move_bins(simt_shared<uint32_t> bins, uint32_t count, uint64_t *of_row) {
    for (uint32_t bin = simt_thread(); bin < count; bin += simt_threads()) {
        uint32_t here = bins[bin];
        if (here != 0) {
            simt_atomic_add(&of_row[bin], (uint64_t)here);
            bins[bin] = 0;
        }
    }
}

/* What counts a digit. */
struct digit_counter {
    struct digit digit;
    simt_shared<uint32_t> bins;

    template <typename Element> TOPK_MEMBER void count(key_word_t<Element> code) const {
        simt_atomic_add(&bins[bin_of<Element>(code, digit)], 1u);
    }
    /* Without a branch. */
    template <typename Element> TOPK_MEMBER void count_if(bool counts, key_word_t<Element> code) const {
        simt_atomic_add(&bins[counts ? bin_of<Element>(code, digit) : OTHER_BIN], 1u);
    }
};

/* Counts the elements of a tile that count and whose codes are in the range, where the digit begins with the
 * range. ALL: the range holds all codes of the row. */
template <typename Element, bool ALL, typename Tile>
TOPK_DEVICE void count_tile(const Tile &of_any_kind, const code_range<Element> &range,
                            const struct digit_counter &counter) {
    branch_once(of_any_kind, [&](const auto &tile) TOPK_LAMBDA {
#pragma unroll
        for (uint32_t g = 0; g < Tile::GROUPS; g++) {
            if (!tile.valid(g))
                continue;
#pragma unroll
            for (uint32_t e = 0; e < Tile::PER; e++) {
                key_word_t<Element> code = range.code(tile.bits(g, e));
                if (ALL && !all_match(tile))
                    counter.count_if<Element>(is_match(tile, g, e), code);
                else if (ALL)
                    counter.count<Element>(code);
                else if (range.holds(code) && is_match(tile, g, e))
                    counter.count<Element>(code - range.low);
            }
        }
    });
}

/* Counts the block's share of a row. */
template <typename Element, bool ALL, bool AHEAD, typename Source>
TOPK_DEVICE void count_row(const Source &source, struct share share, const code_range<Element> &range,
                           const struct digit_counter &counter) {
    for_tiles<Element, AHEAD>(
        source, share, [] { return false; },
        [&](const auto &tile) TOPK_LAMBDA { count_tile<Element, ALL>(tile, range, counter); });
}

#endif
