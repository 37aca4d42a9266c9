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
        const bool is_better = (left & bit) != 0 && (found == 0 || code > best);
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

/* ---- Rows ---- */

/* What each lane pushes first: its best element, where a list has no more than these; otherwise an element
 * from a place of the row that is the lane's own. */
template <typename Element>
TOPK_DEVICE uint32_t first_of_row(const struct code_map &map, const row_in_slot<Element> &row, uint32_t k,
                                  uint32_t matches) {
    if (k <= SIMT_WARP)
        return best_of_row(map, row, matches);
    return matches & 1u << simt_lane() * row.items() / SIMT_WARP;
}

/* Those of `matches` that come before an entry of the list with enough others before it: the list has what
 * lanes pushed first, and these tell which entry that may be. All lanes. */
template <typename Element, bool TWO>
TOPK_DEVICE uint32_t row_items_before(const struct code_map &map, const row_in_slot<Element> &row,
                                      uint32_t matches, const lone_selection<TWO> &s) {
    const uint32_t last = s.k - 1, all = simt_reduce_add(SIMT_ALL_LANES, simt_popc(matches));
    uint32_t rank = s.k * s.list.count / (all > 0 ? all : 1) + GRIDSELECT_LONE_MARGIN;
    if (s.k <= SIMT_WARP)
        rank = last < GRIDSELECT_LONE_BEST ? last : (uint32_t)GRIDSELECT_LONE_BEST;
#pragma unroll 1
    for (; rank < s.list.count; rank = last) {
        const key_word_t<Element> key = key_of_entry<Element, TWO>(s.list.get(rank));
        const uint32_t items = matches & row_items_from(map, row, key);
        if (simt_reduce_add(SIMT_ALL_LANES, simt_popc(items)) >= s.k)
            return items;
        TOPK_REACHED(REACHED_GRIDSELECT_TOO_FEW);
    }
    return matches;
}

template <typename Element, bool TWO>
TOPK_DEVICE void select_from(const struct gridselect_args &a, int64_t begin, const row_in_slot<Element> &row,
                             lone_selection<TWO> *s) {
    uint32_t left = row_items_that_match(a.predicate, begin, row);
#pragma unroll 1
    for (bool opens = row.length > GRIDSELECT_LONE_FEW * SIMT_WARP;; opens = false) {
        const uint32_t pushed = opens ? first_of_row(a.rows.map, row, s->k, left) : left;
        push_items<Element, TWO>(row, a.rows.map, pushed, *s);
        s->merge_queue();
        if (!opens)
            break;
        TOPK_REACHED(REACHED_GRIDSELECT_OPENED);
        left = row_items_before(a.rows.map, row, left, *s) & ~pushed;
    }
}

/* Writes the row's results, which the list has in order, and pads them. */
template <typename Element, bool TWO>
TOPK_DEVICE void write_list(const struct row_args &a, int64_t number, int64_t begin,
                            const row_in_slot<Element> &row, const lone_selection<TWO> &s) {
#pragma unroll 1
    for (uint32_t slot = simt_lane(); slot < s.list.count; slot += SIMT_WARP) {
        const int64_t position = entry_position(TWO, s.list.get(slot));
        write_output<Element>(a, number * a.k_max + slot, begin, (Element)row.at((uint32_t)position),
                              position);
    }
}

/* The row, without results if none of its elements can match; and begins to copy it. */
template <typename Element>
TOPK_DEVICE struct lone_row begin_row(const struct gridselect_args &a, int64_t number, const row_rings &rings,
                                      struct ring_turns *turns) {
    const struct row r = row_at(a.rows, number);
    const struct lone_row row = {r.begin, (uint32_t)r.length,
                                 none_matches<Element>(a.predicate) ? 0 : (uint32_t)r.k};
    if (row.k > 0)
        copy_row<Element>(a.rows, row, rings, turns);
    return row;
}

template <typename Element, bool TWO> TOPK_DEVICE void select_lone_rows(const struct gridselect_args &a) {
    simt_arena arena = simt_shared_arena();
    const row_rings rings = carve_lone<TWO>(arena, a, simt_warps());
    const uint32_t step = simt_blocks() * simt_warps();
    int64_t number = (int64_t)simt_block() * simt_warps() + simt_warp(), begun = number;
    struct ring_turns turns = {0, 0};
    struct lone_row r = {}, next = {};
    lone_selection<TWO> s(lone_slots_of(a));
    rings.make();
    /* In its first turn the loop begins a row, and works on none. */
#pragma unroll 1
    for (bool is_first = true; number < a.rows.rows; is_first = false) {
        if (begun < a.rows.rows)
            next = begin_row<Element>(a, begun, rings, &turns);
        begun += step;
        if (!is_first) {
            if (begun - step < a.rows.rows)
                TOPK_REACHED(REACHED_GRIDSELECT_WARP_NEXT);
            s.begin_row(r.k);
            if (r.k > 0) {
                const row_in_slot<Element> row = take_row<Element>(a.rows, r, rings, &turns);
                select_from(a, r.begin, row, &s);
                write_list(a.rows, number, r.begin, row, s);
            }
            pad_from<Element>(a.rows, number, s.list.count + simt_lane(), SIMT_WARP);
            simt_warp_sync(SIMT_ALL_LANES);
            number += step;
        }
        r = next;
    }
}

/* Entries of one word have rows of any length here, but for those of 64-bit elements. */
static_assert(GRIDSELECT_LONE_ROW <= GRIDSELECT_ONE_WORD_ROW, "positions fit beside a key");
template <typename Element> struct lone_kernel {
    static const bool TWO = sizeof(Element) == 8;
    static const uint32_t THREADS = GRIDSELECT_LONE_WARPS * SIMT_WARP;
    static const uint32_t BLOCKS =
        (TWO ? GRIDSELECT_LONE_WARPS_PER_SM_64 : GRIDSELECT_LONE_WARPS_PER_SM) / GRIDSELECT_LONE_WARPS;
};

template <typename Element>
TOPK_KERNEL
TOPK_BOUNDS(lone_kernel<Element>::THREADS,
            lone_kernel<Element>::BLOCKS) void gridselect_lone(TOPK_CONSTANT_ARGS struct gridselect_args a) {
    if (!is_called_off(a.rows))
        select_lone_rows<Element, lone_kernel<Element>::TWO>(a);
}

#endif
