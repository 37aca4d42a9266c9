/* SPDX-License-Identifier: Apache-2.0
 * What the warps that hold a row add up, and find together. All threads; one barrier of the team. */
#ifndef TOPK_SRC_CUDA_RESIDENT_SUMS_CUH
#define TOPK_SRC_CUDA_RESIDENT_SUMS_CUH

#include "bracket.cuh"
#include "memory.cuh"

struct row_counts {
    struct row_count lower, upper;
};

/* The sum over the lanes below `count`, which read `sums`. All lanes. */
TOPK_DEVICE uint32_t read_sum(const simt_shared<uint32_t> &sums, uint32_t count) {
    return simt_reduce_add(SIMT_ALL_LANES, simt_lane() < count ? (uint32_t)sums[simt_lane()] : 0);
}

/* Sums of two counts, which are in 16 bits each. *turn, 0 or 1, says which half of the memory serves: who
 * writes to a half again has met all others since they read it. In a cluster there are barriers of the block
 * besides. */
template <typename Element, typename Team>
TOPK_DEVICE struct row_counts sums_of(uint32_t of_warp, const row_memory<Element, Team> &m, uint32_t *turn) {
    const simt_shared<uint32_t> of_warps = simt_shared_part(m.counts, *turn * SIMT_WARP, SIMT_WARP);
    const uint32_t half = *turn * RESIDENT_CLUSTER_MAX, lane = simt_lane();
    *turn ^= 1;
    if (lane == 0)
        of_warps[simt_warp()] = of_warp;
    simt_block_sync();
    if constexpr (!Team::IS_CLUSTER) {
        const uint32_t sum = read_sum(of_warps, simt_warps());
        return row_counts{{sum & 0xffff, 0}, {sum >> 16, 0}};
    } else {
        if (simt_warp() == 0) {
            const uint32_t of_block = read_sum(of_warps, simt_warps());
            if (lane < Team::blocks())
                simt_remote_store(simt_shared_of_rank(m.sums, lane), half + Team::rank(), of_block);
        }
        sync_team<Team>();
        const uint32_t of_block = lane < Team::blocks() ? (uint32_t)m.sums[half + lane] : 0;
        const uint32_t before = lane < Team::rank() ? of_block : 0;
        return row_counts{
            {simt_reduce_add(SIMT_ALL_LANES, of_block & 0xffff),
             simt_reduce_add(SIMT_ALL_LANES, before & 0xffff)},
            {simt_reduce_add(SIMT_ALL_LANES, of_block >> 16), simt_reduce_add(SIMT_ALL_LANES, before >> 16)}};
    }
}

/* The least of each word over the lanes below `count`, which read `from`. All lanes. */
template <uint32_t STEP, uint32_t COUNT, typename Word>
TOPK_DEVICE void read_least(const simt_shared<Word> &from, uint32_t count, Word (&words)[COUNT]) {
#pragma unroll
    for (uint32_t i = 0; i < COUNT; i++)
        words[i] = simt_reduce_min(SIMT_ALL_LANES, simt_lane() < count ? (Word)from[i * STEP + simt_lane()]
                                                                       : (Word) ~(Word)0);
}

/* The least of each word over all threads of the team; at most two words. In a cluster there is a barrier of
 * the block besides. Another barrier must come before the next call. */
template <uint32_t COUNT, typename Element, typename Team>
TOPK_DEVICE void find_least(const row_memory<Element, Team> &m, key_word_t<Element> (&words)[COUNT]) {
#pragma unroll
    for (uint32_t i = 0; i < COUNT; i++) {
        words[i] = simt_reduce_min(SIMT_ALL_LANES, words[i]);
        if (simt_lane() == 0)
            m.best[i * SIMT_WARP + simt_warp()] = words[i];
    }
    simt_block_sync();
    read_least<SIMT_WARP>(m.best, simt_warps(), words);
    if constexpr (Team::IS_CLUSTER) {
#pragma unroll
        for (uint32_t i = 0; i < COUNT; i++)
            if (simt_thread() < Team::blocks())
                simt_remote_store(simt_shared_of_rank(m.bounds, simt_thread()),
                                  i * RESIDENT_CLUSTER_MAX + Team::rank(), words[i]);
        sync_team<Team>();
        read_least<RESIDENT_CLUSTER_MAX>(m.bounds, Team::blocks(), words);
    }
}

#endif
