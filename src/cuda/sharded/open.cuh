/* SPDX-License-Identifier: Apache-2.0
 * Before a pass that selects: which elements of each row are results, and padding. */
#ifndef TOPK_SRC_CUDA_SHARDED_OPEN_CUH
#define TOPK_SRC_CUDA_SHARDED_OPEN_CUH

#include "count.cuh"

TOPK_DEVICE int64_t ties_before(const struct sharded_args &a, int64_t row) {
    return a.before == nullptr ? 0 : a.before[row];
}

TOPK_DEVICE int64_t own_k_of(const struct sharded_row &state, int64_t before) {
    return sharded_row_selects(&state, before) ? sharded_row_own_k(&state, before) : 0;
}

/* Fills the slots behind the row's results: all of them, with index -2, if it has none that are known. */
template <typename Element> TOPK_DEVICE void pad_row(const struct sharded_args &a, int64_t row, bool begun) {
    const int64_t before = ties_before(a, row), pitch = a.rows.k_max;
    struct sharded_row state = {};
    if (begun)
        state = a.states[row];
    const bool known = begun && sharded_row_selects(&state, before);
    const int64_t from = known ? own_k_of(state, before) : 0, index = known ? -1 : -2;
    for (int64_t slot = from + (int64_t)simt_block() * simt_threads() + simt_thread(); slot < pitch;
         slot += (int64_t)simt_blocks() * simt_threads()) {
        const int64_t at = row * pitch + slot;
        if (a.rows.out_values != nullptr)
            ((Element *)a.rows.out_values)[at] = (Element)a.rows.padding;
        if (a.rows.out_indices != nullptr && a.rows.wide_indices)
            ((int64_t *)a.rows.out_indices)[at] = index;
        if (a.rows.out_indices != nullptr && !a.rows.wide_indices)
            ((int32_t *)a.rows.out_indices)[at] = (int32_t)index;
    }
}

/* The arc of the codes [first, last]. */
template <typename Element> struct code_arc {
    typedef key_word_t<Element> word;
    word begin, span;

    static TOPK_MEMBER code_arc of(const struct code_map &map, word first, word last) {
        const word ones = (word)(Element) ~(Element)0, turn = (word)map.turn;
        word begin = first;
        if (codes_follow_points<Element>(map)) /* ascending or descending */
            begin = (word)map.always == 0 ? first - turn : turn - 1 - last;
        return code_arc{begin & ones, last - first};
    }
};

/* Which elements of a row are results. */
template <typename Element>
TOPK_DEVICE struct selected_row select_row(const struct code_map &map, const struct sharded_row &state,
                                           int64_t before) {
    typedef key_word_t<Element> word;
    const word ones = (word)(Element) ~(Element)0, low = (word)state.low,
               first = uncut_class_first<Element>(low, map), last = uncut_class_last<Element>(low, map);
    const bool cuts_off = state.open && state.bits_left == 0;
    struct selected_row row = {};
    row.skip = own_k_of(state, before) == 0;
    row.ties = sharded_row_ties(&state, before);
    row.cuts = cuts_off && row.ties > 0 && row.ties < state.own;
    const bool above = cuts_off && row.ties < state.own;
    row.none = above && last >= ones;
    const code_arc<Element> arc = code_arc<Element>::of(map,
                                                        above        ? last + 1
                                                        : state.open ? first
                                                                     : 0,
                                                        ones),
                            tie = code_arc<Element>::of(map, first, last);
    row.begin = arc.begin;
    row.span = arc.span;
    row.tie_begin = tie.begin;
    row.tie_span = tie.span;
    return row;
}

/* Before each launch of the next kernel: what the launch before it has written is what this one begins
 * with. */
template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(SHARDED_ROW_THREADS, 1) void sharded_open(struct sharded_args a) {
    const struct selected_rows &rows = a.selected;
    const bool begun = is_begun(a), leads = simt_block() == 0 && simt_thread() == 0;
    if (leads && simt_block_y() == 0)
        *rows.ticket = 0;
    for (int64_t row = rows.first + simt_block_y(); row < rows.first + rows.count; row += simt_blocks_y()) {
        if (leads && begun) {
            struct selected_row selected =
                select_row<Element>(a.rows.map, a.states[row], ties_before(a, row));
            selected.written = rows.is_first ? 0 : rows.written[row].results;
            selected.tied = rows.is_first ? 0 : rows.written[row].ties;
            rows.rows[row] = selected;
        }
        if (rows.is_first)
            pad_row<Element>(a, row, begun);
    }
}

#endif
