/* SPDX-License-Identifier: Apache-2.0
 * The kernel for short rows: each warp has rows of its own, and no warp waits for another. A row lies in a
 * slot of the warp's ring, whole, while the next one is on its way. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_LONE_ROWS_CUH
#define TOPK_SRC_CUDA_GRIDSELECT_LONE_ROWS_CUH

#include "lone_queue.cuh"
#include "wanted.cuh"

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

/* A row in its slot: elements[first] is its first element. */
template <typename Element> struct row_in_slot {
    typedef key_word_t<Element> word;
    const struct gridselect_args &a;
    const struct row &r;
    simt_shared<Element> elements;
    uint32_t first;

    TOPK_MEMBER uint32_t length(void) const {
        return (uint32_t)r.length;
    }
    TOPK_MEMBER word bits(uint32_t position) const {
        return elements[first + position];
    }
    template <bool TWO> TOPK_MEMBER struct entry entry_at(uint32_t position) const {
        return make_entry(TWO, key_of<Element>(bits(position), a.rows.map), position);
    }
    TOPK_MEMBER bool matches(uint32_t position) const {
        if (!a.predicate.is_given)
            return true;
        const matcher<Element, true> match = matcher<Element, true>::of(a.predicate);
        return match.mask != nullptr ? match.is_masked_in(r.begin + position) : match.in_arc(bits(position));
    }
};

/* Begins to copy the row's body into the next slot, if the row has results. All lanes, which have left what
 * is there. */
template <typename Element>
TOPK_DEVICE void copy_row(const struct row_args &a, const struct row &r, const row_rings &rings,
                          struct ring_turns *turns) {
    if (r.k == 0)
        return;
    const Element *values = row_values<Element>(a, r);
    const struct row_parts parts = parts_of(values, r.length);
    if (parts.groups > 0)
        rings.copy(turns, (const simt_u32x4 *)(values + parts.head), (uint32_t)parts.groups,
                   GRIDSELECT_LONE_LEAD);
    else
        rings.copy_nothing(turns);
}

/* Waits for a row, and puts the elements before and behind its body beside it. All lanes. */
template <typename Element>
TOPK_DEVICE row_in_slot<Element> take_row(const struct gridselect_args &a, const struct row &r,
                                          const row_rings &rings, struct ring_turns *turns) {
    const Element *values = row_values<Element>(a.rows, r);
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
    return row_in_slot<Element>{a, r, elements, first};
}

/* ---- The selection ---- */

/* The position of a best one of the lane's elements that match; all ones: there is none. */
template <typename Element> TOPK_DEVICE uint32_t best_of_lane(const row_in_slot<Element> &row) {
    key_word_t<Element> best = 0;
    uint32_t found = ~0u;
#pragma unroll 4
    for (uint32_t at = simt_lane(); at < row.length(); at += SIMT_WARP) {
        const key_word_t<Element> code = uncut_code_of<Element>(row.bits(at), row.a.rows.map);
        const bool is_better = (found == ~0u || code > best) && row.matches(at);
        best = is_better ? code : best;
        found = is_better ? at : found;
    }
    return found;
}

/* Where the lanes' best elements make up k, they are pushed first: then the bound keeps most others out. */
template <typename Element, bool TWO>
TOPK_DEVICE void select_from(const row_in_slot<Element> &row, lone_selection<TWO> *s) {
    uint32_t opened = ~0u;
    if (s->k <= SIMT_WARP && row.length() > GRIDSELECT_LONE_FEW * SIMT_WARP) {
        TOPK_REACHED(REACHED_GRIDSELECT_OPENED);
        opened = best_of_lane(row);
        s->push(opened != ~0u, row.template entry_at<TWO>(opened != ~0u ? opened : 0));
        s->merge_queue();
    } else {
        TOPK_REACHED(REACHED_GRIDSELECT_NOT_OPENED);
    }
#pragma unroll 1
    for (uint32_t set = 0; set < row.length(); set += SIMT_WARP) {
        const uint32_t at = set + simt_lane();
        const bool is_left = at < row.length() && at != opened;
        const struct entry e = row.template entry_at<TWO>(is_left ? at : set);
        s->push(is_left && precedes<TWO>(e, s->bound) && row.matches(at), e);
    }
    s->merge_queue();
}

/* Writes the row's results, which the list has in order, and pads them. */
template <typename Element, bool TWO>
TOPK_DEVICE void write_list(const row_in_slot<Element> &row, int64_t number, const lone_selection<TWO> &s) {
#pragma unroll 1
    for (uint32_t slot = simt_lane(); slot < s.list.count; slot += SIMT_WARP) {
        const int64_t position = entry_position(TWO, s.list.get(slot));
        write_result<Element>(row.a.rows, number, row.r, slot, (Element)row.bits((uint32_t)position),
                              position);
    }
}

/* ---- Rows ---- */

/* The row, without results if none of its elements can match; and begins to copy it. */
template <typename Element>
TOPK_DEVICE struct row begin_row(const struct gridselect_args &a, int64_t number, bool none_matches,
                                 const row_rings &rings, struct ring_turns *turns) {
    struct row r = row_at(a.rows, number);
    r.k = none_matches ? 0 : r.k;
    copy_row<Element>(a.rows, r, rings, turns);
    return r;
}

template <typename Element, bool TWO> TOPK_DEVICE void select_lone_rows(const struct gridselect_args &a) {
    simt_arena arena = simt_shared_arena();
    const row_rings rings = carve_lone<TWO>(arena, a, simt_warps());
    const bool none = none_matches<Element>(a.predicate);
    const int64_t step = (int64_t)simt_blocks() * simt_warps();
    int64_t number = (int64_t)simt_block() * simt_warps() + simt_warp();
    struct ring_turns turns = {0, 0};
    struct row next = {};
    lone_selection<TWO> s(lone_slots_of(a));
    rings.make();
    if (number < a.rows.rows)
        next = begin_row<Element>(a, number, none, rings, &turns);
#pragma unroll 1
    for (; number < a.rows.rows; number += step) {
        const struct row r = next;
        if (number + step < a.rows.rows) {
            TOPK_REACHED(REACHED_GRIDSELECT_WARP_NEXT);
            next = begin_row<Element>(a, number + step, none, rings, &turns);
        }
        s.begin_row((uint32_t)r.k);
        if (r.k > 0) {
            const row_in_slot<Element> row = take_row<Element>(a, r, rings, &turns);
            select_from(row, &s);
            write_list(row, number, s);
        }
        pad_from<Element>(a.rows, number, s.list.count + simt_lane(), SIMT_WARP);
        simt_warp_sync(SIMT_ALL_LANES);
    }
}

template <typename Element, bool TWO>
TOPK_KERNEL
TOPK_BOUNDS(GRIDSELECT_LONE_WARPS *SIMT_WARP,
            GRIDSELECT_LONE_WARPS_PER_SM /
                GRIDSELECT_LONE_WARPS) void gridselect_lone(TOPK_CONSTANT_ARGS struct gridselect_args a) {
    if (!is_called_off(a.rows))
        select_lone_rows<Element, TWO>(a);
}

#endif
