/* SPDX-License-Identifier: Apache-2.0
 * Positions of hits in ascending order, from bits of a team's threads to a list in shared memory. Element and
 * ITEMS say how a row is held (held.cuh). */
#ifndef TOPK_SRC_CUDA_RTOPK_IN_ORDER_CUH
#define TOPK_SRC_CUDA_RTOPK_IN_ORDER_CUH

#include "../select/held.cuh"

/* Moves hits between 1 << shift lanes until each lane has the hits of ITEMS neighbours, which come behind the
 * neighbours of the lane before. As many lanes as a lane has groups transpose the bits of these: lane i
 * gets group i of all. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE uint32_t hits_of_neighbours(uint32_t hits, uint32_t shift_of_lanes = 5) {
    typedef held_shape<Element, ITEMS> shape;
    const uint32_t lane = simt_lane(), mine = lane & ((1u << shift_of_lanes) - 1);
    const uint32_t sharing_shift = shift_of_lanes - shape::GROUPS_SHIFT, sharing = 1u << sharing_shift;
#pragma unroll
    for (uint32_t bit = 1; bit < shape::GROUPS; bit *= 2) {
        const uint32_t shift = bit * shape::PER, lower = ~0u / ((1u << shift) + 1); /* every other field */
        const uint32_t other = simt_shuffle_xor(SIMT_ALL_LANES, hits, bit);
        hits = (lane & bit) == 0 ? (hits & lower) | (other & lower) << shift
                                 : (hits & ~lower) | (other >> shift & lower);
    }
    if (shape::GROUPS == 1)
        return hits;
    return simt_shuffle(SIMT_ALL_LANES, hits,
                        lane - mine + (mine & (sharing - 1)) * shape::GROUPS + (mine >> sharing_shift));
}

/* The thread's hits that are among the row's first `count`. Hits are of neighbours. All threads. */
template <uint32_t WARPS>
TOPK_DEVICE uint32_t first_hits(uint32_t hits, uint32_t count, row_team<WARPS> &team) {
    uint32_t total;
    const uint32_t before = team.scan(simt_popc(hits), &total);
    const uint32_t kept = before < count ? count - before : 0;
    for (uint32_t surplus = simt_popc(hits); surplus > kept; surplus--)
        hits ^= 1u << (31 - simt_clz(hits));
    return hits;
}

/* Writes the positions of the row's first k hits, or of all, in order. Hits are of neighbours. All threads.
 */
template <typename Element, uint32_t ITEMS, uint32_t WARPS, typename Word>
TOPK_DEVICE void put_in_order(const held_row<Element, ITEMS, WARPS, Word> &held, uint32_t hits, uint32_t k,
                              row_team<WARPS> &team, simt_shared<uint16_t> to) {
    const uint32_t first = team.thread() * ITEMS - held.left;
    uint32_t total;
    for (uint32_t slot = team.scan(simt_popc(hits), &total); hits != 0 && slot < k; slot++) {
        to[slot] = (uint16_t)(first + simt_ffs(hits) - 1);
        hits &= hits - 1;
    }
}

#endif
