/* SPDX-License-Identifier: Apache-2.0
 * The kernels: a row for each warp. */
#ifndef TOPK_SRC_CUDA_RTOPK_ROW_CUH
#define TOPK_SRC_CUDA_RTOPK_ROW_CUH

#include "../../reached.h"
#include "listed.cuh"

/* In which order the positions of a row's results are listed. */
enum listed_order {
    LISTED_ANYHOW,      /* in any, and results may be asked for in any, best first or by position */
    LISTED_FOR_OTHERS,  /* in any, and results are not asked for by position */
    LISTED_BY_POSITION, /* ascending, as results are asked for */
};

/* Writes the k results whose positions are listed: below POSITIONS, a power of two. All lanes. */
template <uint32_t POSITIONS, enum listed_order ORDER, typename Element>
TOPK_DEVICE void write_list(const row_task<Element> &t, const warp_bracket<Element> &b) {
    const uint32_t k = (uint32_t)t.r.k;
    simt_warp_sync(SIMT_ALL_LANES);
    if (ORDER == LISTED_BY_POSITION || !t.a.is_sorted)
        write_unsorted(t, k, row_team<1>{});
    else if (ORDER == LISTED_ANYHOW && k <= RTOPK_FEW && t.a.by_position)
        write_few_listed(t, k);
    else if (k <= RTOPK_FEW)
        write_few(t, sort_few<Element, POSITIONS>(few_listed(t, k), b, k), k);
    else
        write_sorted(t, k, t.lists, row_team<1>{});
}

/* Writes what a search in the whole row has found. All lanes. */
template <uint32_t POSITIONS, enum listed_order ORDER, typename Element, typename Row>
TOPK_DEVICE void write_found(const row_task<Element> &t, const Row &row, const warp_bracket<Element> &b) {
    if (t.a.is_kth) {
        write_class_of(t, row, b);
        return;
    }
    list_best<ORDER == LISTED_BY_POSITION>(row, b, t.a.rows.map, (uint32_t)t.r.k, t.lists.positions);
    write_list<POSITIONS, ORDER>(t, b);
}

/* Writes the k best, or the k-th class, of the elements of a row that take part: at least k. All lanes. */
template <enum listed_order ORDER, typename Element, uint32_t ITEMS>
TOPK_DEVICE void select_in_row(const row_task<Element> &t, const held_row<Element, ITEMS> &held) {
    const struct code_map &map = t.a.rows.map;
    const uint32_t k = (uint32_t)t.r.k, POSITIONS = SIMT_WARP * ITEMS;
    const uint32_t enough = k <= RTOPK_FEW ? (uint32_t)RTOPK_FEW : k;
    const warp_bracket<Element> b = find_bracket<Element>(held, map, narrowing{k, enough, k, 0});
    simt_warp_sync(SIMT_ALL_LANES); /* the row before this one has been written */
    if (b.count <= RTOPK_FEW) {
        if (ORDER == LISTED_BY_POSITION)
            collect_in_order(held, hits_from(held, b.low), 0, 0, t.lists.positions);
        else
            (void)list_from(held, b.low, t.lists.positions);
        simt_warp_sync(SIMT_ALL_LANES);
        const few_entries<Element> listed = few_listed(t, b.count);
        const few_entries<Element> few = sort_few<Element, POSITIONS>(listed, b, b.count);
        if (t.a.is_kth)
            write_class_of_few(t, few, k, b.count);
        else if (ORDER == LISTED_BY_POSITION)
            write_best_of_few(t, listed, few, k);
        else
            write_few(t, few, k);
        return;
    }
    write_found<POSITIONS, ORDER>(t, held, b);
}

/* Goes on among the candidates of a bracket, which are few, until it is closed or holds k. Writes the results
 * if it holds k, and the class in any case; returns whether all is written. All lanes. */
template <typename Element>
TOPK_DEVICE bool select_listed(const row_task<Element> &t, const shared_row<Element> &row,
                               warp_bracket<Element> *b) {
    const uint32_t k = (uint32_t)t.r.k;
    (void)list_from(row, b->low, t.lists.positions);
    simt_warp_sync(SIMT_ALL_LANES);
    const listed_codes<Element> listed = read_listed(t, row, b->count);
    narrow_bracket(listed, t.a.rows.map, narrowing{k, k, k, RTOPK_GUESSES}, b);
    if (t.a.is_kth) {
        write_class_of(t, listed, *b);
        return true;
    }
    if (b->count != k) {
        simt_warp_sync(SIMT_ALL_LANES); /* the list has been read */
        return false;
    }
    if (!t.a.is_sorted) {
        write_listed(t, listed, b->low);
        return true;
    }
    keep_listed(t, listed, b->low);
    write_list<RTOPK_ROW_MAX, LISTED_ANYHOW>(t, *b);
    return true;
}

/* The same. A search in the row leaves candidates, and a search among these takes far fewer instructions, but
 * needs one step after the other: that pays where rows are many. */
template <typename Element>
TOPK_DEVICE void select_in_row(const row_task<Element> &t, const shared_row<Element> &row) {
    const struct code_map &map = t.a.rows.map;
    const uint32_t k = (uint32_t)t.r.k, enough = k < RTOPK_LISTED ? (uint32_t)RTOPK_LISTED : k;
    warp_bracket<Element> b = find_bracket<Element>(row, map, narrowing{k, enough, (k + enough) / 2, 1});
    simt_warp_sync(SIMT_ALL_LANES); /* the row before this one has been written */
    if (b.count <= RTOPK_LISTED && !b.is_closed(map) && select_listed(t, row, &b))
        return;
    write_found<RTOPK_ROW_MAX, LISTED_ANYHOW>(t, row, b);
}

/* The class of a row that has no k-th element. */
template <typename Element> TOPK_DEVICE void write_no_class(const row_task<Element> &t) {
    if (simt_lane() == 0)
        write_kth<Element>(t.a.kth, t.row, t.a.rows.padding, t.r.wanted == 0 ? 0 : t.r.length, 0);
}

/* Fills the slots behind a row's results. All lanes. */
template <typename Element> TOPK_DEVICE void write_rest(const row_task<Element> &t) {
    for (int64_t slot = t.r.k + simt_lane(); slot < t.a.rows.k_max; slot += SIMT_WARP)
        write_padding<Element>(t.a.rows, t.row, slot);
}

/* Blocks for each multiprocessor: as many as leave each thread the registers that its items need. */
template <typename Element> constexpr uint32_t row_blocks(uint32_t items) {
    const bool is_wide = sizeof(Element) == 8;
    if (items <= 8)
        return !is_wide ? 9 : items < 8 ? 9 : 7;
    if (items <= 16)
        return is_wide ? 4 : 8;
    return is_wide ? 3 : 5;
}

/* Writes the rows of the warp; select(task) writes one that has k elements at least. NEXT_ROW: the path that
 * counts further rows. All lanes. */
template <typename Element, int NEXT_ROW, typename Select>
TOPK_DEVICE void for_rows_of_warp(const struct rtopk_args &a, const warp_lists<Element> &lists,
                                  const Select &select) {
    const int64_t first = (int64_t)simt_block() * simt_warps() + simt_warp();
    for (int64_t row = first; row < a.rows.rows; row += (int64_t)simt_blocks() * simt_warps()) {
        if (row != first)
            TOPK_REACHED(NEXT_ROW);
        const row_task<Element> task = {a, row, row_at(a.rows, row), lists};
        const struct row &r = task.r;
        if (a.is_kth && (r.wanted == 0 || r.wanted > r.length))
            write_no_class(task);
        else if (r.k > 0)
            select(task);
        if (!a.is_kth)
            write_rest(task);
    }
}

/* ORDER: LISTED_BY_POSITION or LISTED_FOR_OTHERS. */
template <typename Element, uint32_t ITEMS, enum listed_order ORDER>
TOPK_KERNEL TOPK_BOUNDS(RTOPK_THREADS, row_blocks<Element>(ITEMS)) void rtopk_row(struct rtopk_args a) {
    simt_arena arena = simt_shared_arena();
    const warp_lists<Element> lists = lists_of(carve_lists<Element>(arena, a, simt_warps()), a, simt_warp());
    if (is_called_off(a.rows))
        return;
    for_rows_of_warp<Element, TOPK_PATH(REACHED_RTOPK_NEXT_ROW)>(
        a, lists, [&](const row_task<Element> &task) TOPK_LAMBDA {
            select_in_row<ORDER>(task, hold_row<Element, ITEMS>(a.rows, task.r));
        });
}

/* Of rows of different lengths. */
template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(RTOPK_UNEVEN_THREADS, RTOPK_UNEVEN_BLOCKS) void rtopk_uneven(struct rtopk_args a) {
    simt_arena arena = simt_shared_arena();
    const uint32_t of_row = shared_quads<Element>((uint32_t)a.rows.length_max);
    const simt_shared<simt_u32x4> quads =
        simt_shared_part(simt_carve<simt_u32x4>(arena, simt_warps() * of_row), simt_warp() * of_row, of_row);
    const warp_lists<Element> lists = lists_of(carve_lists<Element>(arena, a, simt_warps()), a, simt_warp());
    if (is_called_off(a.rows))
        return;
    for_rows_of_warp<Element, TOPK_PATH(REACHED_RTOPK_UNEVEN_NEXT_ROW)>(
        a, lists, [&](const row_task<Element> &task) TOPK_LAMBDA {
            select_in_row(task, share_row<Element>(a.rows, task.r, quads));
        });
}

#endif
