/* SPDX-License-Identifier: Apache-2.0
 * The kernel for short rows: each warp has rows of its own, and no warp waits for another. A row lies in a
 * slot of the warp's ring, whole, while the next one is on its way. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_LONE_ROWS_CUH
#define TOPK_SRC_CUDA_GRIDSELECT_LONE_ROWS_CUH

#include "items.cuh"

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

/* The rank in the list of an entry with k elements before it, as far as what lanes pushed first can tell. All
 * lanes. */
template <bool TWO> TOPK_DEVICE uint32_t rank_to_try(uint32_t matches, const lone_selection<TWO> &s) {
    if (s.k <= SIMT_WARP)
        return s.k <= GRIDSELECT_LONE_BEST ? s.k - 1 : (uint32_t)GRIDSELECT_LONE_BEST;
    const uint32_t all = simt_reduce_add(SIMT_ALL_LANES, simt_popc(matches));
    return s.k * s.list.count / (all + 1) + GRIDSELECT_LONE_MARGIN;
}

/* The part of `matches` before the list's entry, if these are at least k elements. For the entry of rank
 * k - 1 they always are. All lanes. */
template <typename Element, bool TWO>
TOPK_DEVICE uint32_t row_items_before(const struct code_map &map, const row_in_slot<Element> &row,
                                      uint32_t matches, const lone_selection<TWO> &s) {
#pragma unroll 1
    for (uint32_t rank = rank_to_try(matches, s), last = s.k - 1; rank < s.list.count;
         rank = rank < last ? last : s.k) {
        const key_word_t<Element> key = key_of_entry<Element, TWO>(s.list.get(rank));
        const uint32_t items = matches & row_items_from(map, row, key);
        if (simt_reduce_add(SIMT_ALL_LANES, simt_popc(items)) >= s.k)
            return items;
        TOPK_REACHED(REACHED_GRIDSELECT_TOO_FEW);
    }
    return matches;
}

/* Each lane pushes one element first, and then what these let pass. */
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
        if (begun < a.rows.rows) {
            next = begin_row<Element>(a, begun, rings, &turns);
            if (!is_first)
                TOPK_REACHED(REACHED_GRIDSELECT_WARP_NEXT);
        }
        begun += step;
        if (!is_first) {
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

/* Only elements of 64 bits have entries of two words here. */
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
