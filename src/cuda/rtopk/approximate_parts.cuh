/* SPDX-License-Identifier: Apache-2.0
 * The kernel of approximate selections from rows of one length that begin at multiples of 16 bytes and
 * consist of whole groups: lanes share a row as in parts.cuh, and a warp searches several at once. */
#ifndef TOPK_SRC_CUDA_RTOPK_APPROXIMATE_PARTS_CUH
#define TOPK_SRC_CUDA_RTOPK_APPROXIMATE_PARTS_CUH

#include "approximate_row.cuh"
#include "part_numbers.cuh"
#include "part_order.cuh"

/* The lower end that Algorithm 2 ends with, for each row of the warp. All lanes, as below. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE number_t<Element> stop_parts_early(const part_numbers<Element, ITEMS> &row,
                                               const struct approximate_args &a,
                                               number_range<number_t<Element>> range) {
    bool last = false;
    for (uint32_t steps = a.max_iterations; steps != 0 && !simt_all(SIMT_ALL_LANES, last); steps--) {
        const number_t<Element> middle = midpoint<false>(range);
        last = is_end(range, middle);
        const bool is_low = row.count_from(middle) >= a.of_row.uniform.k;
        range = {is_low ? middle : range.low, is_low ? range.high : middle};
    }
    return range.low;
}

/* Lists the results of the lane's row in the order of their positions. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void list_from(const part_numbers<Element, ITEMS> &row, number_t<Element> low, uint32_t k,
                           bool is_listed, simt_shared<uint16_t> list) {
    typedef part_numbers<Element, ITEMS> numbers;
    const number_hits<ITEMS> hits = row.hits_from(low);
    uint32_t first = row.part.lane * numbers::OF_WORD, slot = 0;
#pragma unroll
    for (uint32_t w = 0; w < numbers::WORDS; w++) {
        uint32_t total, rest = is_listed ? hits.words[w] : 0;
        uint32_t to = slot + part_scan(row.part, simt_popc(hits.words[w]), &total);
        for (; rest != 0 && to < k; rest &= rest - 1)
            list[to++] = (uint16_t)(first + simt_ffs(rest) - 1);
        first += numbers::OF_WORD << row.part.shift;
        slot += total;
    }
}

/* Lists the results of a row that has elements that are not finite. All lanes. */
template <typename Element>
TOPK_NOINLINE void list_not_finite(const struct approximate_args &a, int64_t index,
                                   simt_shared<uint16_t> list) {
    TOPK_REACHED(REACHED_RTOPK_PART_NOT_FINITE);
    row_team<1> team = {};
    const struct row r = even_row_at(a.of_row.rows, index);
    held_numbers<Element, RTOPK_ITEMS_3, 1> held = hold_numbers<Element, RTOPK_ITEMS_3, 1>(a, r, team);
    const number_cut<number_t<Element>> cut = find_cut(a, a.of_row.uniform.k, team, &held);
    collect_cut(held, cut, a.of_row.uniform.k, team, list);
}

/* Lists the results of the warp's rows. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void list_parts(const struct approximate_args &a, const served_rows &s,
                            simt_shared<uint16_t> lists) {
    typedef number_t<Element> number;
    const struct uniform_rows &u = a.of_row.uniform;
    const uint32_t r = simt_lane() >> u.part_shift;
    const bool has_row = r < s.count;
    part_numbers<Element, ITEMS> row(u);
    row.load(a.numbers, uniform_row<Element>(a.of_row, s.first + (has_row ? r : 0)));
    read_ahead<Element>(a.of_row, s);
    const number largest = as_numbers<Element>{a.numbers}.magnitude_of(a.numbers.largest);
    number_range<number> range = row.range();
    const bool is_finite = range.low >= -largest && range.high <= largest;
    if (!is_finite)
        range = {0, 0}; /* whose search ends at once */
    row.drop_others();
    list_from(row, stop_parts_early(row, a, range), u.k, has_row && is_finite,
              simt_shared_part(lists, r * u.k, u.k));
    uint32_t missing = simt_ballot(SIMT_ALL_LANES, has_row && !is_finite);
    while (missing != 0) {
        const uint32_t last = (31 - simt_clz(missing)) >> u.part_shift;
        list_not_finite<Element>(a, s.first + last, simt_shared_part(lists, last * u.k, u.k));
        missing &= (1u << (last << u.part_shift)) - 1;
    }
}

template <typename Element, uint32_t ITEMS>
TOPK_KERNEL TOPK_BOUNDS(RTOPK_THREADS, RTOPK_APPROXIMATE_PART_BLOCKS(ITEMS)) void rtopk_approximate_parts(
    TOPK_CONSTANT_ARGS struct approximate_args a) {
    if (is_called_off(a.of_row.rows))
        return;
    const served_rows s = rows_of_warp(a.of_row, (uint32_t)SIMT_WARP >> a.of_row.uniform.part_shift);
    if (s.count == 0)
        return;
    simt_arena arena = simt_shared_arena();
    const warp_lists<Element> lists =
        lists_of(carve_lists<Element>(arena, a.of_row, simt_warps()), a.of_row, simt_warp());
    list_parts<Element, ITEMS>(a, s, lists.positions);
    simt_warp_sync(SIMT_ALL_LANES);
    if (a.of_row.is_sorted)
        order_rows<Element, RTOPK_ORDER_FEW>(a.of_row, s, lists.positions, no_leads{});
    write_results<Element>(a.of_row, s, lists.positions);
}

#endif
