/* SPDX-License-Identifier: Apache-2.0
 * Positions of hits in ascending order, from bits of a team's threads to a list in shared memory. Element and
 * ITEMS say how a row is held (held.cuh). */
#ifndef TOPK_SRC_CUDA_RTOPK_IN_ORDER_CUH
#define TOPK_SRC_CUDA_RTOPK_IN_ORDER_CUH

#include "../select/held.cuh"

/* Counts of groups are scanned side by side, in parts of a word that hold how many elements a warp's lanes
 * have of one group. */
template <typename Element, uint32_t ITEMS> struct packed_groups {
    typedef held_shape<Element, ITEMS> shape;
    static const uint32_t BITS = SIMT_WARP * shape::PER < 256 ? 8 : 16;
    static const uint32_t PACKED = 32 / BITS;
    static const uint32_t WORDS = (shape::GROUPS + PACKED - 1) / PACKED;

    static TOPK_MEMBER uint32_t part(const uint32_t (&words)[WORDS], uint32_t group) {
        return words[group / PACKED] >> group % PACKED * BITS & ((1u << BITS) - 1);
    }
    /* The thread's hits of a group, as its lowest bits. */
    static TOPK_MEMBER uint32_t of_group(uint32_t hits, uint32_t group) {
        return hits >> group * shape::PER & ((1u << shape::PER) - 1);
    }
};

/* For each group of the thread, how many of the row's hits come before its own. All threads. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE void rank_groups(uint32_t hits, row_team<WARPS> &team,
                             uint32_t (&before)[held_shape<Element, ITEMS>::GROUPS]) {
    typedef packed_groups<Element, ITEMS> packed;
    uint32_t counts[packed::WORDS] = {}, totals[packed::WORDS], of_warp = 0, of_team;
#pragma unroll
    for (uint32_t g = 0; g < packed::shape::GROUPS; g++)
        counts[g / packed::PACKED] |= simt_popc(packed::of_group(hits, g))
                                      << g % packed::PACKED * packed::BITS;
#pragma unroll
    for (uint32_t w = 0; w < packed::WORDS; w++)
        counts[w] = warp_scan(counts[w], &totals[w]);
#pragma unroll
    for (uint32_t g = 0; g < packed::shape::GROUPS; g++) {
        before[g] = of_warp + packed::part(counts, g);
        of_warp += packed::part(totals, g);
    }
    const uint32_t before_warp = team.scan_warps(of_warp, &of_team);
#pragma unroll
    for (uint32_t g = 0; g < packed::shape::GROUPS; g++)
        before[g] += before_warp;
}

/* The hits of the thread that are among the row's first `count`. All threads. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE uint32_t first_hits(uint32_t hits, uint32_t count, row_team<WARPS> &team) {
    typedef held_shape<Element, ITEMS> shape;
    uint32_t ranks[shape::GROUPS], first = 0;
    rank_groups<Element, ITEMS>(hits, team, ranks);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint32_t hit = hits & 1u << i, rank = ranks[i / shape::PER];
        first |= rank < count ? hit : 0;
        ranks[i / shape::PER] = rank + (hit != 0);
    }
    return first;
}

/* Writes the positions of all hits of a row, in order; `to` has room for each of its elements. All threads.
 */
template <typename Element, uint32_t ITEMS, uint32_t WARPS, typename Word>
TOPK_DEVICE void put_in_order(const held_row<Element, ITEMS, WARPS, Word> &held, uint32_t hits,
                              row_team<WARPS> &team, simt_shared<uint16_t> to) {
    typedef held_shape<Element, ITEMS> shape;
    uint32_t slots[shape::GROUPS];
    rank_groups<Element, ITEMS>(hits, team, slots);
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++) {
        simt_appender list = simt_append_at(to, slots[g]);
#pragma unroll
        for (uint32_t i = g * shape::PER; i < (g + 1) * shape::PER; i++)
            list.append_if(hits & 1u << i, (uint16_t)(held.index(i) - held.left));
    }
}

#endif
