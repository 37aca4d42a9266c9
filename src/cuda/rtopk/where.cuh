/* SPDX-License-Identifier: Apache-2.0
 * The kernel of an exact select_where: a row for each warp, which holds its matches. */
#ifndef TOPK_SRC_CUDA_RTOPK_WHERE_CUH
#define TOPK_SRC_CUDA_RTOPK_WHERE_CUH

#include "../select/matches.cuh"
#include "row.cuh"
#include "where.h"

/* Writes a row. All lanes. */
template <enum listed_order ORDER, typename Element, uint32_t ITEMS>
TOPK_DEVICE void select_matches(const struct where_args &a, int64_t row, const warp_lists<Element> &lists) {
    typedef as_codes<Element> codes;
    const struct row_args &rows = a.of_row.rows;
    struct row r = row_at(rows, row);
    if (r.k > 0) {
        row_team<1> warp;
        held_row<Element, ITEMS> held = hold_row_as<Element, ITEMS, 1>(
            rows, r, of_matches<Element, codes>::of_row(codes{rows.map}, a.predicate, r));
        count_matches(warp, &held);
        r.k = r.k < held.count ? r.k : held.count;
        if (r.k > 0)
            select_in_row<ORDER>(row_task<Element>{a.of_row, row, r, lists}, held);
        else
            TOPK_REACHED(REACHED_RTOPK_NO_MATCH);
    }
    write_rest(row_task<Element>{a.of_row, row, r, lists});
}

template <typename Element, uint32_t ITEMS, enum listed_order ORDER>
TOPK_KERNEL TOPK_BOUNDS(RTOPK_THREADS, row_blocks<Element>(ITEMS)) void rtopk_where(struct where_args a) {
    simt_arena arena = simt_shared_arena();
    const warp_lists<Element> lists =
        lists_of(carve_lists<Element>(arena, a.of_row, simt_warps()), a.of_row, simt_warp());
    if (is_called_off(a.of_row.rows))
        return;
    const int64_t first = (int64_t)simt_block() * simt_warps() + simt_warp(), rows = a.of_row.rows.rows;
    for (int64_t row = first; row < rows; row += (int64_t)simt_blocks() * simt_warps()) {
        if (row != first)
            TOPK_REACHED(REACHED_RTOPK_WHERE_NEXT_ROW);
        select_matches<ORDER, Element, ITEMS>(a, row, lists);
    }
}

#endif
