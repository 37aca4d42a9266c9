/* SPDX-License-Identifier: Apache-2.0
 * Algorithm 2 in a row that stays in memory, by a warp. Rows with infinities or NaN go this way: they are
 * rare, so the code is short and not fast. */
#ifndef TOPK_SRC_CUDA_RTOPK_MEMORY_NUMBERS_CUH
#define TOPK_SRC_CUDA_RTOPK_MEMORY_NUMBERS_CUH

#include "approximate.cuh"

template <typename Element> struct memory_numbers {
    typedef number_t<Element> number;
    const Element *values;
    uint32_t length;
    const struct number_map &map;
    tier_map<number> tiers;
    bool are_tiers; /* all elements, in place of numbers */

    /* An element, so that it compares as it ranks. */
    TOPK_MEMBER number at(uint32_t position) const {
        number item[1] = {as_numbers<Element>{map}.of(simt_load_read_only(values + position))};
        orient_numbers<Element>(map, item);
        const number tier = tiers.of(item[0]);
        const number rank = tier > 0 ? infinity_of<number>() : -infinity_of<number>();
        return are_tiers ? tier : tier != 0 ? rank : item[0];
    }
    /* All lanes, as below. */
    TOPK_MEMBER uint32_t count_from(number low) const {
        uint32_t count = 0;
        for (uint32_t position = simt_lane(); position < length; position += SIMT_WARP)
            count += at(position) >= low ? 1 : 0;
        return simt_reduce_add(SIMT_ALL_LANES, count);
    }
    /* Of the finite numbers. */
    TOPK_MEMBER number_range<number> range(void) const {
        number_range<number> range = {infinity_of<number>(), -infinity_of<number>()};
        for (uint32_t position = simt_lane(); position < length; position += SIMT_WARP) {
            const number item = at(position);
            if (simt_float_magnitude(item) <= tiers.largest)
                range = {simt_float_min(range.low, item), simt_float_max(range.high, item)};
        }
        return {number_of_ascending<number>(simt_reduce_min(SIMT_ALL_LANES, ascending_of(range.low))),
                number_of_ascending<number>(simt_reduce_max(SIMT_ALL_LANES, ascending_of(range.high)))};
    }
};

/* The cut that a search with early stopping ends with. All lanes. */
template <typename Element>
TOPK_DEVICE number_cut<number_t<Element>> find_cut(memory_numbers<Element> *row, uint32_t k,
                                                   uint32_t max_iterations) {
    typedef number_t<Element> number;
    number_cut<number> cut = {0, infinity_of<number>(), row->count_from(infinity_of<number>())};
    if (k <= cut.above || k > row->count_from(-row->tiers.largest)) {
        TOPK_REACHED(REACHED_RTOPK_PART_KTH_NOT_FINITE);
        row->are_tiers = true;
        cut = {2, 3, 0};
        for (uint32_t count = row->count_from(cut.low); count < k; count = row->count_from(cut.low))
            cut = {cut.low - 1, cut.low, count};
        return cut;
    }
    number_range<number> range = row->range();
    bool last = false;
    for (uint32_t steps = max_iterations; steps != 0 && !last; steps--) {
        const number middle = midpoint<false>(range);
        last = is_end(range, middle);
        const bool is_low = row->count_from(middle) >= k;
        range = {is_low ? middle : range.low, is_low ? range.high : middle};
    }
    cut.low = range.low;
    return cut;
}

/* Lists the positions of a row's k results in ascending order. All lanes. */
template <typename Element>
TOPK_DEVICE void list_cut(memory_numbers<Element> row, uint32_t k, uint32_t max_iterations,
                          simt_shared<uint16_t> list) {
    const number_cut<number_t<Element>> cut = find_cut(&row, k, max_iterations);
    const uint32_t lower = (1u << simt_lane()) - 1;
    uint32_t slot = 0, others = k - cut.above; /* that are still to come */
#pragma unroll 1
    for (uint32_t begin = 0; begin < row.length; begin += SIMT_WARP) {
        const uint32_t position = begin + simt_lane();
        const bool exists = position < row.length;
        const number_t<Element> item = row.at(exists ? position : begin);
        const bool wins = exists && item >= cut.fewer, hits = exists && !wins && item >= cut.low;
        const uint32_t others_here = simt_ballot(SIMT_ALL_LANES, hits);
        const bool is_result = wins || (hits && simt_popc(others_here & lower) < others);
        const uint32_t results = simt_ballot(SIMT_ALL_LANES, is_result);
        if (is_result)
            list[slot + simt_popc(results & lower)] = (uint16_t)position;
        slot += simt_popc(results);
        others -= simt_popc(others_here) < others ? simt_popc(others_here) : others;
    }
}

#endif
