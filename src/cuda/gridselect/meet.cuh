/* SPDX-License-Identifier: Apache-2.0
 * What the warps of a block, and the blocks of a row, tell each other. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_MEET_CUH
#define TOPK_SRC_CUDA_GRIDSELECT_MEET_CUH

#include "queue.cuh"

/* The best bound that a block of the row has told. */
TOPK_DEVICE uint64_t known_bound(const struct gridselect_args &a, int64_t row) {
    return simt_blocks() > 1 ? ~simt_load_relaxed(&a.shared.bounds[row]) : ~(uint64_t)0;
}

/* Puts the part of each block into `words`. The first `awaited` blocks are asked again, GRIDSELECT_PATIENCE
 * times at most, while one of them has told no part. All threads. */
TOPK_DEVICE void gather_parts(const struct gridselect_args &a, int64_t row, uint32_t awaited,
                              const entry_list<false> &words) {
    const uint64_t *parts = a.shared.parts + row * simt_blocks();
#pragma unroll 1
    for (uint32_t first = simt_warp() * SIMT_WARP; first < simt_blocks(); first += simt_threads()) {
        const uint32_t block = first + simt_lane();
        uint64_t told = 0;
        uint32_t asks = 0;
        do
            told = block < simt_blocks() ? simt_load_relaxed(&parts[block]) : 0;
        while (simt_any(SIMT_ALL_LANES, told == 0 && block < awaited) && ++asks < GRIDSELECT_PATIENCE);
        put_words(words, first, ~told);
    }
}

/* The bound that all blocks of the row know together: of each the entry whose rank in the block is the part,
 * and of these the last one that takes part if the best make up k results. As bound_of_words(); one barrier
 * before, and one inside. */
template <bool TWO>
TOPK_NOINLINE uint64_t bound_of_parts(const struct gridselect_args &a, int64_t row, uint32_t k,
                                      uint32_t awaited) {
    simt_arena arena = simt_shared_arena();
    const entry_list<false> words = carve_selection<TWO>(arena, a, simt_warps(), simt_blocks()).words;
    gather_parts(a, row, awaited, words);
    simt_block_sync();
    return bound_of_words(words, simt_blocks(), (k + a.part - 1) / a.part);
}

/* Then the warps of the block know what each of them has told, and, where blocks tell each other parts, the
 * bound of all parts. What waits in queues is not told. All threads. */
template <bool TWO>
TOPK_NOINLINE void meet(const struct gridselect_args &a, int64_t row, struct warp_state state,
                        uint32_t awaited) {
    const warp_selection<TWO> s(a, state);
    if (simt_lane() == 0)
        s.memory.counts[simt_warp()] = s.list.count;
    simt_block_sync();
    if (a.part == 0)
        return;
#pragma unroll 1
    for (uint32_t i = simt_lane(); i < s.list.count && i < a.part; i += SIMT_WARP)
        if (rank_in_block(s.memory, s.list, a.capacity, i, a.part) == a.part - 1)
            simt_store_relaxed(&a.shared.parts[row * simt_blocks() + simt_block()], ~s.list.get(i).high);
    const uint64_t bound = bound_of_parts<TWO>(a, row, s.k, awaited);
    if (bound != ~(uint64_t)0) {
        simt_atomic_min(&s.memory.bound[0], bound);
        simt_atomic_max(&a.shared.bounds[row], ~bound);
    }
}

#endif
