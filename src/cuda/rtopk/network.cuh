/* SPDX-License-Identifier: Apache-2.0
 * The kernel for rows of one length that finds thresholds by sorting networks, or by counting if KEPT is 0.
 * Networks are slower where elements tie with the k-th, and where a lane has more results than it keeps. */
#ifndef TOPK_SRC_CUDA_RTOPK_NETWORK_CUH
#define TOPK_SRC_CUDA_RTOPK_NETWORK_CUH

#include "lead_list.cuh"
#include "lists.cuh"
#include "memory_row.cuh"
#include "network.h"
#include "part_counts.cuh"
#include "part_in_order.cuh"
#include "part_list.cuh"
#include "part_order.cuh"
#include "row_stage.cuh"

/* The results of the lane's row. A lane may have more of them than it keeps leads: then its row's list tells
 * too low a threshold, and the warp counts. All lanes. */
template <uint32_t KEPT, typename Element, uint32_t ITEMS>
TOPK_DEVICE lane_results<ITEMS> find_results(const part_row<Element, ITEMS> &row,
                                             const struct uniform_rows &u) {
    if constexpr (KEPT != 0) {
        const lane_results<ITEMS> results = results_of(row, u, find_kth<KEPT>(row, u));
        if (simt_all(SIMT_ALL_LANES, results.found))
            return results;
        TOPK_REACHED(REACHED_RTOPK_NETWORK_COUNTED);
    }
    return results_by_counts(row, u);
}

/* Lists the results of a row whose leads do not tell them. All lanes. */
template <typename Element>
TOPK_NOINLINE void list_missing(const struct rtopk_args &a, int64_t row, simt_shared<uint16_t> list) {
    TOPK_REACHED(REACHED_RTOPK_NETWORK_MISSING);
    list_best(memory_row<Element>{uniform_row<Element>(a, row), a.uniform.length, a.rows.map, a.uniform.map},
              a.uniform.k, list);
}

/* Whether a kernel lists leads: a lead must tell the class of an element. */
template <typename Element, uint32_t KEPT> struct lists_leads {
    static const bool value = KEPT == 0 && sizeof(Element) < 8;
};

/* Loads the row of the lane, which stays in a stage, too. For results BY_POSITION lanes have groups of
 * neighbours in any case. */
template <typename Element, uint32_t ITEMS, bool BY_POSITION = false, typename Stage = no_stage>
TOPK_DEVICE part_row<Element, ITEMS> load_part_row(const struct rtopk_args &a, int64_t index,
                                                   const Stage &stage = Stage{}) {
    const Element *values = simt_in_register(uniform_row<Element>(a, index));
    part_row<Element, ITEMS> row(a.uniform);
    if (a.uniform.is_whole)
        load_part_groups(values, a.uniform, stage, &row);
    else if (BY_POSITION)
        load_grouped_items(values, a.uniform, &row);
    else
        load_part_items(values, a.uniform, stage, &row);
    return row;
}

/* Lists the results of rows whose leads do not tell them; is_missing: the lane's row is such a one. All
 * lanes. */
template <typename Element>
TOPK_DEVICE void list_missing_rows(const struct rtopk_args &a, const served_rows &s, bool is_missing,
                                   const simt_shared<uint16_t> &positions) {
    const struct uniform_rows &u = a.uniform;
    uint32_t missing = simt_ballot(SIMT_ALL_LANES, is_missing);
    while (missing != 0) {
        const uint32_t last = (31 - simt_clz(missing)) >> u.part_shift;
        list_missing<Element>(a, s.first + last, simt_shared_part(positions, last * u.k, u.k));
        missing &= (1u << (last << u.part_shift)) - 1;
    }
}

/* Lists the results of the lane's row, if it is wanted. All lanes. */
template <bool BY_POSITION, typename Element, uint32_t ITEMS>
TOPK_DEVICE void list_row(const struct rtopk_args &a, const served_rows &s,
                          const part_row<Element, ITEMS> &row, const lane_results<ITEMS> &results,
                          bool is_wanted, const simt_shared<uint16_t> &positions) {
    const struct uniform_rows &u = a.uniform;
    if constexpr (BY_POSITION) {
        const uint32_t first = is_wanted ? (simt_lane() >> u.part_shift) * u.k : 0;
        list_in_order(row, results.items, is_wanted, simt_shared_part(positions, first, u.k));
    } else {
        if (results.found && is_wanted)
            list_results(row, results.items,
                         simt_shared_part(positions, (simt_lane() >> u.part_shift) * u.k, u.k), results.end);
        list_missing_rows<Element>(a, s, is_wanted && !results.found, positions);
    }
}

/* Puts the listed results in order, if they are to go so, and writes them. MOST: as in order_rows(); 0 if
 * they are in order. All lanes. */
template <uint32_t MOST, typename Element, typename Rows>
TOPK_DEVICE void write_positions(const struct rtopk_args &a, const served_rows &s,
                                 const simt_shared<uint16_t> &positions, const Rows &rows) {
    simt_warp_sync(SIMT_ALL_LANES);
    if constexpr (MOST != 0)
        if (a.is_sorted)
            order_rows<Element, MOST>(a, s, rows, positions, no_leads{});
    write_results<Element>(a, s, positions, rows);
}

/* Serves rows whose results are listed by positions. All lanes. */
template <typename Element, uint32_t ITEMS, uint32_t KEPT, bool BY_POSITION>
TOPK_DEVICE void serve_by_positions(const struct rtopk_args &a, const served_rows &s) {
    const struct uniform_rows &u = a.uniform;
    simt_arena arena = simt_shared_arena();
    const warp_lists<Element> lists = lists_of(carve_lists<Element>(arena, a, simt_warps()), a, simt_warp());
    const uint32_t r = simt_lane() >> u.part_shift;
    const bool has_row = r < s.count;
    const part_row<Element, ITEMS> row =
        load_part_row<Element, ITEMS, BY_POSITION>(a, s.first + (has_row ? r : 0));
    read_ahead<Element>(a, s);
    list_row<BY_POSITION>(a, s, row, find_results<KEPT>(row, u), has_row, lists.positions);
    write_positions<BY_POSITION ? 0 : RTOPK_ORDER_MOST(ITEMS, KEPT), Element>(a, s, lists.positions,
                                                                              rows_from<Element>(a, s));
}

/* Serves rows that stay in shared memory until their results are written. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void serve_from_stage(const struct rtopk_args &a, const served_rows &s) {
    const struct uniform_rows &u = a.uniform;
    simt_arena arena = simt_shared_arena();
    const staged_rows<Element, ITEMS> stage = carve_row_stage<Element, ITEMS>(arena, a, simt_warp());
    const lane_part part = part_of_lane(u.part_shift);
    const uint32_t r = simt_lane() >> u.part_shift;
    const bool has_row = r < s.count;
    const part_row<Element, ITEMS> row =
        load_part_row<Element, ITEMS, false>(a, s.first + (has_row ? r : 0), stage.row(r, part));
    read_ahead<Element>(a, s);
    const lane_results<ITEMS> results = results_by_counts(row, u);
    if (results.found && has_row)
        append_results(row, results.items, simt_shared_part(stage.positions, r * u.k, u.k),
                       results.end - results.items.count());
    list_missing_rows<Element>(a, s, has_row && !results.found, stage.positions);
    write_positions<RTOPK_ORDER_MOST(ITEMS, 0), Element>(a, s, stage.positions, stage.rows(part));
}

/* Serves rows whose results are listed by leads, which counts always find. All lanes. */
template <typename Element, uint32_t ITEMS, bool BY_POSITION>
TOPK_DEVICE void serve_by_leads(const struct rtopk_args &a, const served_rows &s) {
    const struct uniform_rows &u = a.uniform;
    simt_arena arena = simt_shared_arena();
    const lead_list list = carve_lead_list(arena, a, simt_warp());
    const uint32_t r = simt_lane() >> u.part_shift;
    const bool has_row = r < s.count;
    const part_row<Element, ITEMS> row =
        load_part_row<Element, ITEMS, BY_POSITION>(a, s.first + (has_row ? r : 0));
    read_ahead<Element>(a, s);
    const lane_results<ITEMS> results = results_by_counts(row, u);
    if constexpr (BY_POSITION)
        list_leads_in_order(row, results.items, has_row, list, r * u.k);
    else if (has_row)
        list_leads(row, results.items, list, r * u.k + results.end - results.items.count());
    simt_warp_sync(SIMT_ALL_LANES);
    if constexpr (!BY_POSITION)
        if (a.is_sorted)
            order_rows<Element, RTOPK_ORDER_MOST(ITEMS, 0)>(a, s, rows_from<Element>(a, s), list.positions(),
                                                            list.leads());
    write_listed(a, s, list, leads_as_elements<Element>{u.map});
}

/* BY_POSITION: results are asked for by position, and else in any other order. */
template <typename Element, uint32_t ITEMS, uint32_t KEPT, bool BY_POSITION>
TOPK_KERNEL
TOPK_BOUNDS(RTOPK_THREADS, (RTOPK_NETWORK_BLOCKS(ITEMS, KEPT, sizeof(Element)))) void rtopk_network(
    TOPK_CONSTANT_ARGS struct rtopk_args a) {
    if (is_called_off(a.rows))
        return;
    const served_rows s = rows_of_warp(a, (uint32_t)SIMT_WARP >> a.uniform.part_shift);
    if (s.count == 0)
        return;
    if constexpr (lists_leads<Element, KEPT>::value)
        serve_by_leads<Element, ITEMS, BY_POSITION>(a, s);
    else if constexpr (stages_rows<Element, ITEMS, KEPT>::value)
        serve_from_stage<Element, ITEMS>(a, s);
    else
        serve_by_positions<Element, ITEMS, KEPT, BY_POSITION>(a, s);
    if (a.uniform.has_padding)
        write_rests<Element>(a, s);
}

#endif
