/* SPDX-License-Identifier: Apache-2.0
 * In place of the first pass: a row's range is that from its least code to its greatest. The passes after it
 * cut the range into parts of equal width. */
#ifndef TOPK_SRC_CUDA_AIR_EXTENT_CUH
#define TOPK_SRC_CUDA_AIR_EXTENT_CUH

#include "first.cuh"

TOPK_HOST_DEVICE simt_shared<uint32_t> carve_extent(simt_arena &arena) {
    return simt_carve<uint32_t>(arena, 1);
}

/* The greatest code and the greatest complement of a code, of what a thread has seen. */
template <typename Element> struct extent {
    typedef key_word_t<Element> word;
    word greatest, greatest_complement;

    template <typename Tile> TOPK_MEMBER void see(const Tile &tile, const struct code_map &map) {
#pragma unroll
        for (uint32_t g = 0; g < Tile::GROUPS; g++) {
            if (!tile.valid(g))
                continue;
#pragma unroll
            for (uint32_t e = 0; e < Tile::PER; e++) {
                const word code = code_of<Element>(tile.bits(g, e), map), complement = ~code;
                greatest = greatest > code ? greatest : code;
                greatest_complement = greatest_complement > complement ? greatest_complement : complement;
            }
        }
    }
    /* All lanes. */
    TOPK_MEMBER void add_to(struct air_state *state) const {
        const word of_warp = simt_reduce_max(SIMT_ALL_LANES, greatest),
                   complement = simt_reduce_max(SIMT_ALL_LANES, greatest_complement);
        if (simt_lane() == 0) {
            simt_atomic_max(&state->greatest, (uint64_t)of_warp);
            simt_atomic_max(&state->greatest_complement, (uint64_t)complement);
        }
    }
};

template <typename Element>
TOPK_DEVICE void find_extent(const struct air_args &a, int64_t row, const matcher<Element, false> &all,
                             simt_shared<uint32_t> flag) {
    const struct row r = row_at(a.rows, row);
    if (begin_row<Element, false>(a, row, r).phase != AIR_OPEN)
        return;
    struct air_state *state = &a.states[row];
    extent<Element> seen = {0, 0};
    for_tiles<Element, true>(
        source_of(a.rows, r, all), among_all_blocks(), [] { return false; },
        [&](const auto &tile) TOPK_LAMBDA { seen.see(tile, a.rows.map); });
    seen.add_to(state);
    if (last_of_blocks(&state->retired, flag) && simt_thread() == 0) {
        /* Even, so that no part's end comes between the codes of both zeros. */
        const key_word_t<Element> least =
            ~(key_word_t<Element>)simt_load_relaxed(&state->greatest_complement);
        state->range.low = least & ~(key_word_t<Element>)1;
        state->range.high = simt_load_relaxed(&state->greatest);
        simt_store_relaxed(&state->retired, 0u);
    }
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(AIR_THREADS, FIRST_BLOCKS) void air_extent(struct air_args a) {
    simt_arena arena = simt_shared_arena();
    const simt_shared<uint32_t> flag = carve_extent(arena);
    for_shared_rows<Element, false, TOPK_PATH(REACHED_AIR_EXTENT_NEXT_ROW)>(
        a,
        [&](int64_t row, const matcher<Element, false> &all) TOPK_LAMBDA { find_extent(a, row, all, flag); });
}

#endif
