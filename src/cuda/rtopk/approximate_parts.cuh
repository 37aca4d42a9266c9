/* SPDX-License-Identifier: Apache-2.0
 * The kernel of approximate selections from rows of one length that begin at multiples of 16 bytes and
 * consist of whole groups: lanes share a row as in parts.cuh, and a warp searches several at once. */
#ifndef TOPK_SRC_CUDA_RTOPK_APPROXIMATE_PARTS_CUH
#define TOPK_SRC_CUDA_RTOPK_APPROXIMATE_PARTS_CUH

#include "memory_numbers.cuh"
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

/* The same as list_from(), with the numbers themselves: where lanes have many results it takes fewer steps,
 * and none is read again. Slots of the row begin at `slot`. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void list_numbers_from(const part_numbers<Element, ITEMS> &row, number_t<Element> low, uint32_t k,
                                   bool is_listed, const lead_list &list, uint32_t slot) {
    typedef part_numbers<Element, ITEMS> numbers;
    static_assert(numbers::shape::PER == 4 && numbers::OF_WORD % 8 == 0, "pairs of groups of 4 items");
    TOPK_REACHED(REACHED_RTOPK_PART_NUMBERS);
    const uint32_t one = simt_unknown_one(), group = 4u << row.part.shift;
    const spread_words first = list.leads(), second = list.positions();
    simt_pair_appender to = simt_append_pairs_at(first.words, second.words, 0);
    uint32_t position = row.part.lane * 4, next = first.first + slot;
    const uint32_t limit = is_listed ? next + k : 0;
#pragma unroll
    for (uint32_t w = 0; w < numbers::WORDS; w++) {
        uint32_t hits = 0, totals[2], before[2];
#pragma unroll
        for (uint32_t i = 0; i < numbers::OF_WORD; i++)
            hits = simt_count_from(hits, row.items[numbers::OF_WORD * w + i], low, 1u << i, one);
        const uint32_t counts = bits_of_groups<4>(hits), by_bytes = 0x0f0f0f0f;
        before[0] = part_scan(row.part, counts & by_bytes, &totals[0]); /* a byte's sum is at most 128 */
        before[1] = part_scan(row.part, counts >> 4 & by_bytes, &totals[1]);
#pragma unroll
        for (uint32_t g = 0; g < numbers::OF_WORD / 4; g++) {
            to.go_to(next + (before[g % 2] >> g / 2 * 8 & 0xff));
#pragma unroll
            for (uint32_t i = 4 * g; i < 4 * g + 4; i++)
                to.append_below(limit, hits & 1u << i,
                                simt_bits_of_float(row.items[numbers::OF_WORD * w + i]), position + i % 4);
            position += group;
            next += totals[g % 2] >> g / 2 * 8 & 0xff;
        }
    }
}

/* Lists the results of a row that has elements that are not finite. All lanes. */
template <typename Element>
TOPK_NOINLINE void list_not_finite(const struct approximate_args &a, int64_t index,
                                   simt_shared<uint16_t> list) {
    TOPK_REACHED(REACHED_RTOPK_PART_NOT_FINITE);
    const struct uniform_rows &u = a.of_row.uniform;
    const tier_map<number_t<Element>> tiers = tiers_of<Element>(a.numbers);
    list_cut(
        memory_numbers<Element>{uniform_row<Element>(a.of_row, index), u.length, a.numbers, tiers, false},
        u.k, a.max_iterations, list);
}

/* How numbers tell elements. */
template <typename Element_> struct numbers_as_elements {
    typedef Element_ Element;
    const struct number_map &map;

    TOPK_MEMBER bool tells(void) const {
        return (Element)map.keep == (Element) ~(Element)0;
    }
    TOPK_MEMBER Element element(uint32_t number) const {
        return (Element)(number ^ (Element)map.negate);
    }
};

/* Lists the results of row r of the warp, where the others have numbers, too. All lanes. */
template <typename Element>
TOPK_DEVICE void list_numbers_not_finite(const struct approximate_args &a, const served_rows &s,
                                         const lead_list &list, simt_shared<uint16_t> positions, uint32_t r) {
    const uint32_t k = a.of_row.uniform.k;
    const Element *values = uniform_row<Element>(a.of_row, s.first + r);
    list_not_finite<Element>(a, s.first + r, positions);
    simt_warp_sync(SIMT_ALL_LANES);
    for (uint32_t slot = simt_lane(); slot < k; slot += SIMT_WARP) {
        const uint32_t position = (uint16_t)positions[slot];
        list.positions()[r * k + slot] = position;
        list.leads()[r * k + slot] = simt_load_read_only(values + position) ^ (Element)a.numbers.negate;
    }
    simt_warp_sync(SIMT_ALL_LANES); /* all have read the positions */
}

/* Where a warp lists results. */
struct parts_lists {
    simt_shared<uint16_t> positions; /* with numbers: of one row */
    lead_list numbers;
};

template <bool NUMBERS>
TOPK_HOST_DEVICE parts_lists carve_parts(simt_arena &arena, const struct rtopk_args &a, uint32_t warp) {
    const uint32_t slots = NUMBERS ? a.uniform.k : a.slots;
    parts_lists lists = {};
    if (NUMBERS)
        lists.numbers = carve_lead_list(arena, a, warp);
    lists.positions =
        simt_shared_part(simt_carve<uint16_t>(arena, RTOPK_THREADS / SIMT_WARP * slots), warp * slots, slots);
    return lists;
}

/* Lists the results of the warp's rows. All lanes. */
template <bool NUMBERS, typename Element, uint32_t ITEMS>
TOPK_DEVICE void list_parts(const struct approximate_args &a, const served_rows &s,
                            const parts_lists &lists) {
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
    const number low = stop_parts_early(row, a, range);
    if constexpr (NUMBERS)
        list_numbers_from(row, low, u.k, has_row && is_finite, lists.numbers, r * u.k);
    else
        list_from(row, low, u.k, has_row && is_finite, simt_shared_part(lists.positions, r * u.k, u.k));
    uint32_t missing = simt_ballot(SIMT_ALL_LANES, has_row && !is_finite);
    while (missing != 0) {
        const uint32_t last = (31 - simt_clz(missing)) >> u.part_shift;
        if constexpr (NUMBERS)
            list_numbers_not_finite<Element>(a, s, lists.numbers, lists.positions, last);
        else
            list_not_finite<Element>(a, s.first + last, simt_shared_part(lists.positions, last * u.k, u.k));
        missing &= (1u << (last << u.part_shift)) - 1;
    }
}

/* NUMBERS: results in any order are listed with their numbers. */
template <typename Element, uint32_t ITEMS, bool NUMBERS>
TOPK_KERNEL TOPK_BOUNDS(RTOPK_THREADS, RTOPK_APPROXIMATE_PART_BLOCKS(ITEMS)) void rtopk_approximate_parts(
    TOPK_CONSTANT_ARGS struct approximate_args a) {
    if (is_called_off(a.of_row.rows))
        return;
    const served_rows s = rows_of_warp(a.of_row, (uint32_t)SIMT_WARP >> a.of_row.uniform.part_shift);
    if (s.count == 0)
        return;
    simt_arena arena = simt_shared_arena();
    const parts_lists lists = carve_parts<NUMBERS>(arena, a.of_row, simt_warp());
    list_parts<NUMBERS, Element, ITEMS>(a, s, lists);
    simt_warp_sync(SIMT_ALL_LANES);
    if constexpr (NUMBERS) {
        write_listed(a.of_row, s, lists.numbers, numbers_as_elements<Element>{a.numbers});
    } else {
        if (a.of_row.is_sorted)
            order_rows<Element, RTOPK_ORDER_FEW>(a.of_row, s, rows_from<Element>(a.of_row, s),
                                                 lists.positions, no_leads{});
        write_results<Element>(a.of_row, s, lists.positions, rows_from<Element>(a.of_row, s));
    }
}

#endif
