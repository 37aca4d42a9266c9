/* SPDX-License-Identifier: Apache-2.0
 * The kernel for rows of one length that finds thresholds by sorting networks. Two things make it slower:
 * ties, and a lane that has more results than it keeps. */
#ifndef TOPK_SRC_CUDA_RTOPK_NETWORK_CUH
#define TOPK_SRC_CUDA_RTOPK_NETWORK_CUH

#include "memory_row.cuh"
#include "part_order.cuh"
#include "part_results.cuh"

/* What is known of the lanes' rows. */
struct listed_rows {
    uint32_t missing; /* lanes whose row's results are not listed */
    bool has_leads;   /* in all rows the lists hold the leads of the results */
};

/* Lists the results of the lane's row, if the leads that its part keeps tell them. All lanes. */
template <uint32_t KEPT, typename Element, uint32_t ITEMS>
TOPK_DEVICE listed_rows list_rows(const part_row<Element, ITEMS> &row, const struct uniform_rows &u,
                                  bool has_row, part_list<KEPT> *best, simt_shared<uint16_t> list) {
    const lane_results<ITEMS> results = results_of(row, u, find_list(row, u, u.ranks_by_list, best));
    if (results.found && has_row)
        list_results(row, results.items, list, results.end);
    /* Where there are ties the k-th lead is right even if some lane has lost better ones. */
    const bool has_leads = results.found && (!results.had_ties || KEPT == ITEMS || u.k <= KEPT);
    return {simt_ballot(SIMT_ALL_LANES, has_row && !results.found),
            u.ranks_by_list && simt_all(SIMT_ALL_LANES, !has_row || has_leads)};
}

/* Lists the results of a row whose lanes have too many of them, or whose leads do not tell them. All lanes.
 */
template <typename Element>
TOPK_NOINLINE void list_missing(const struct rtopk_args &a, int64_t row, simt_shared<uint16_t> list) {
    TOPK_REACHED(REACHED_RTOPK_NETWORK_MISSING);
    list_best(memory_row<Element>{uniform_row<Element>(a, row), a.uniform.length, a.rows.map, a.uniform.map},
              a.uniform.k, list);
}

/* Serves the rows from `first` on. All lanes. */
template <typename Element, uint32_t ITEMS, uint32_t KEPT>
TOPK_DEVICE void serve_parts(const struct rtopk_args &a, const served_rows &s) {
    const struct uniform_rows &u = a.uniform;
    simt_arena arena = simt_shared_arena();
    const warp_lists<Element> lists = lists_of(carve_lists<Element>(arena, a, simt_warps()), a, simt_warp());
    const uint32_t r = simt_lane() >> u.part_shift;
    const bool has_row = r < s.count;
    const Element *values = simt_in_register(uniform_row<Element>(a, s.first + (has_row ? r : 0)));
    part_row<Element, ITEMS> row(u);
    if (u.is_whole)
        load_part_groups(values, u, &row);
    else
        load_part_items(values, u, &row);
    part_list<KEPT> best;
    const simt_shared<uint16_t> list = simt_shared_part(lists.positions, r * u.k, u.k);
    const listed_rows listed = list_rows(row, u, has_row, &best, list);
    uint32_t missing = listed.missing;
    while (missing != 0) {
        const uint32_t last = (31 - simt_clz(missing)) >> u.part_shift;
        list_missing<Element>(a, s.first + last, simt_shared_part(lists.positions, last * u.k, u.k));
        missing &= (1u << (last << u.part_shift)) - 1;
    }
    simt_warp_sync(SIMT_ALL_LANES);
    if (!a.is_sorted) {
        write_results<Element>(a, s, lists.positions);
        return;
    }
    const simt_shared<uint16_t> ordered = simt_shared_part(lists.positions, a.slots / 2, a.slots / 2);
    order_results(listed_row<Element>{row.part, values, has_row ? u.k : 0, r * u.k, lists, list,
                                      simt_shared_part(ordered, r * u.k, u.k)},
                  a, best, listed.has_leads);
    simt_warp_sync(SIMT_ALL_LANES);
    write_results<Element>(a, s, ordered);
}

/* Blocks for each multiprocessor, as in row_blocks(). */
template <typename Element> constexpr uint32_t network_blocks(uint32_t items, uint32_t kept) {
    if (items > 32)
        return kept > 16 || sizeof(Element) == 8 ? 3 : kept > 8 ? 4 : 5;
    return kept > 16 ? 5 : items > 16 ? 6 : 7;
}

template <typename Element, uint32_t ITEMS, uint32_t KEPT>
TOPK_KERNEL TOPK_BOUNDS(RTOPK_THREADS, (network_blocks<Element>(ITEMS, KEPT))) void rtopk_network(
    TOPK_CONSTANT_ARGS struct rtopk_args a) {
    if (is_called_off(a.rows))
        return;
    const served_rows s = rows_of_warp(a, (uint32_t)SIMT_WARP >> a.uniform.part_shift);
    if (s.count == 0)
        return;
    serve_parts<Element, ITEMS, KEPT>(a, s);
    if (a.uniform.has_padding)
        write_rests<Element>(a, s);
}

#endif
