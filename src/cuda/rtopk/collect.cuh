/* SPDX-License-Identifier: Apache-2.0
 * Positions of a row's results, from bits of hits to a list in shared memory. */
#ifndef TOPK_SRC_CUDA_RTOPK_COLLECT_CUH
#define TOPK_SRC_CUDA_RTOPK_COLLECT_CUH

#include "lists.cuh"
#include "search.cuh"

/* Writes the positions of the lane's hits, from `slot` up to `end` - 1. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void put_hits(const held_row<Element, ITEMS> &held, uint32_t hits, uint32_t slot, uint32_t end,
                          simt_shared<uint16_t> to) {
    for (; hits != 0 && slot < end; hits &= hits - 1)
        to[slot++] = (uint16_t)(held.index(simt_ffs(hits) - 1) - held.left);
}

/* Writes the positions of the row's hits; returns how many these are. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE uint32_t collect_hits(const held_row<Element, ITEMS> &held, uint32_t hits,
                                  simt_shared<uint16_t> to) {
    uint32_t total;
    const uint32_t slot = warp_scan(simt_popc(hits), &total);
    put_hits(held, hits, slot, total, to);
    return total;
}

/* Writes the positions of the first ties of a row, from slot `first` to k - 1. `ties`: the lane's. All lanes.
 */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void collect_ties(const held_row<Element, ITEMS> &held, uint32_t ties, uint32_t first, uint32_t k,
                              simt_shared<uint16_t> to) {
    typedef held_shape<Element, ITEMS> shape;
    const uint32_t of_group = (1u << shape::PER) - 1;
#pragma unroll 1
    for (uint32_t g = 0; first < k; g++) {
        const uint32_t hits = ties & of_group << g * shape::PER;
        uint32_t total;
        const uint32_t slot = first + warp_scan(simt_popc(hits), &total);
        put_hits(held, hits, slot, k, to);
        first += total;
    }
}

/* Writes, in ascending order, the positions of the row's hits and of its first `wanted` ties. `hits` and
 * `ties` are the lane's. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void collect_in_order(const held_row<Element, ITEMS> &held, uint32_t hits, uint32_t ties,
                                  uint32_t wanted, simt_shared<uint16_t> to) {
    typedef held_shape<Element, ITEMS> shape;
    const uint32_t of_group = (1u << shape::PER) - 1;
    uint32_t first = 0; /* hits of the groups before, and their ties in the upper half */
#pragma unroll 1
    for (uint32_t g = 0; g < shape::GROUPS; g++) {
        const uint32_t mask = of_group << g * shape::PER;
        uint32_t total;
        const uint32_t of_lane = simt_popc(hits & mask) + (simt_popc(ties & mask) << 16);
        const uint32_t before = first + warp_scan(of_lane, &total);
        uint32_t tie = before >> 16, slot = (before & 0xffff) + (tie < wanted ? tie : wanted);
        for (uint32_t both = (hits | ties) & mask; both != 0; both &= both - 1) {
            const uint32_t item = simt_ffs(both) - 1, is_tie = ties >> item & 1;
            if (is_tie == 0 || tie < wanted)
                to[slot++] = (uint16_t)(held.index(item) - held.left);
            tie += is_tie;
        }
        first += total;
    }
}

/* Writes the positions of all codes at or above `low`; returns how many these are. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE uint32_t list_from(const held_row<Element, ITEMS> &held, key_word_t<Element> low,
                               simt_shared<uint16_t> to) {
    return collect_hits(held, hits_from(held, low), to);
}

/* Writes the positions of the k best of a row, in ascending order if IN_ORDER. All lanes. */
template <bool IN_ORDER, typename Element, uint32_t ITEMS>
TOPK_DEVICE void list_best(const held_row<Element, ITEMS> &held, const warp_bracket<Element> &b,
                           const struct code_map &map, uint32_t k, simt_shared<uint16_t> to) {
    const uint32_t hits = hits_from(held, b.low);
    uint32_t winners = hits;
    if (b.count > k) {
        TOPK_REACHED(REACHED_RTOPK_SURPLUS_TIES);
        winners = b.above > 0 ? hits_from(held, class_last<Element>(b.low, map) + 1) : 0;
    }
    const uint32_t ties = hits & ~winners;
    if (IN_ORDER) {
        const uint32_t count = simt_reduce_add(SIMT_ALL_LANES, simt_popc(winners));
        collect_in_order(held, winners, ties, k - count, to);
    } else {
        const uint32_t count = collect_hits(held, winners, to);
        collect_ties(held, ties, count, k, to);
    }
}

#endif
