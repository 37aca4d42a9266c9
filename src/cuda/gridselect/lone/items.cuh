/* SPDX-License-Identifier: Apache-2.0
 * A short row in a slot of its warp's ring, and which of the lane's elements there are wanted. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_LONE_ITEMS_CUH
#define TOPK_SRC_CUDA_GRIDSELECT_LONE_ITEMS_CUH

#include "../wanted.cuh"
#include "queue.cuh"

typedef warp_rings<0, GRIDSELECT_LONE_SLOTS> row_rings;

TOPK_HOST_DEVICE struct lone_slots lone_slots_of(const struct gridselect_args &a) {
    return lone_slots{a.capacity, a.has_lane_queues};
}

template <bool TWO>
TOPK_HOST_DEVICE row_rings carve_lone(simt_arena &arena, const struct gridselect_args &a, uint32_t warps) {
    (void)carve_lone_slots<TWO>(arena, lone_slots_of(a), warps);
    return carve_rings<row_rings>(arena, warps, 0, a.row_groups);
}

/* ---- Elements of a row ---- */

/* As struct row; a short row's numbers are small. */
struct lone_row {
    int64_t begin;
    uint32_t length, k; /* k == 0: without results, and without a slot */
};

/* A row in its slot: elements[first] is its first element. A lane's items are SIMT_WARP apart. */
template <typename Element> struct row_in_slot {
    typedef key_word_t<Element> word;
    simt_shared<Element> elements;
    uint32_t first, length;

    TOPK_MEMBER word at(uint32_t position) const {
        return elements[first + position];
    }
    TOPK_MEMBER uint32_t position(uint32_t item) const {
        return simt_lane() + item * SIMT_WARP;
    }
    TOPK_MEMBER word bits(uint32_t item) const {
        return at(position(item));
    }
    TOPK_MEMBER uint32_t items(void) const {
        return (length + SIMT_WARP - 1 - simt_lane()) / SIMT_WARP;
    }
};

/* Begins to copy the row's body into the next slot. All lanes, which have left what is there. */
template <typename Element>
TOPK_DEVICE void copy_row(const struct row_args &a, const struct lone_row &r, const row_rings &rings,
                          struct ring_turns *turns) {
    const Element *values = (const Element *)a.values + r.begin;
    const struct row_parts parts = parts_of(values, r.length);
    if (parts.groups > 0)
        rings.copy(turns, (const simt_u32x4 *)(values + parts.head), (uint32_t)parts.groups,
                   GRIDSELECT_LONE_LEAD);
    else
        rings.copy_nothing(turns);
}

/* Waits for a row, and puts the elements before and behind its body beside it. All lanes. */
template <typename Element>
TOPK_DEVICE row_in_slot<Element> take_row(const struct row_args &a, const struct lone_row &r,
                                          const row_rings &rings, struct ring_turns *turns) {
    const Element *values = (const Element *)a.values + r.begin;
    const struct row_parts parts = parts_of(values, r.length);
    const simt_shared<Element> elements = simt_shared_as<Element>(rings.groups);
    const uint32_t slot = rings.take(turns) + GRIDSELECT_LONE_LEAD;
    const uint32_t first = slot * tile_shape<Element>::PER - parts.head;
    if (parts.head + parts.tail > 0) {
        TOPK_REACHED(REACHED_GRIDSELECT_ROW_EDGES);
        const edge_tile<Element> edges = load_edges(values, parts, r.length, simt_lane());
        if (edges.inside)
            elements[first + (uint32_t)edges.at] = (Element)edges.element;
        simt_fence_bulk();
        simt_warp_sync(SIMT_ALL_LANES);
    }
    return row_in_slot<Element>{elements, first, r.length};
}

/* ---- The lane's items, as bits ---- */

/* Those that match. */
template <typename Element>
TOPK_DEVICE uint32_t row_items_that_match(const struct predicate_args &predicate, int64_t begin,
                                          const row_in_slot<Element> &row) {
    const uint32_t items = row.items();
    if (!predicate.is_given)
        return first_items(items);
    const matcher<Element, true> match = matcher<Element, true>::of(predicate);
    uint32_t matches = 0;
#pragma unroll 1
    for (uint32_t i = 0; i < items; i++) {
        const bool is_match =
            match.mask != nullptr ? match.is_masked_in(begin + row.position(i)) : match.in_arc(row.bits(i));
        matches |= (uint32_t)is_match << i;
    }
    return matches;
}

/* A best one of `left`, if there are any. */
template <typename Element>
TOPK_DEVICE uint32_t best_of_row(const struct code_map &map, const row_in_slot<Element> &row, uint32_t left) {
    const uint32_t items = row.items();
    key_word_t<Element> best = 0;
    uint32_t found = 0, bit = 1;
#pragma unroll 4
    for (uint32_t i = 0; i < items; i++) {
        const key_word_t<Element> code = uncut_code_of<Element>(row.bits(i), map);
        const bool is_better = (left & bit) != 0 && code >= best;
        best = is_better ? code : best;
        found = is_better ? bit : found;
        bit <<= 1;
    }
    return found;
}

/* Those whose keys are not behind `key`. */
template <typename Element>
TOPK_DEVICE uint32_t row_items_from(const struct code_map &map, const row_in_slot<Element> &row,
                                    key_word_t<Element> key) {
    const uint32_t items = row.items();
    const key_word_t<Element> low = uncut_class_first<Element>(key, map);
    uint32_t from = 0, bit = 1;
#pragma unroll 4
    for (uint32_t i = 0; i < items; i++) {
        from |= uncut_code_of<Element>(row.bits(i), map) >= low ? bit : 0;
        bit <<= 1;
    }
    return from;
}

#endif
