/* SPDX-License-Identifier: Apache-2.0
 * The least and the greatest of a row's numbers, between which a search goes on, and their midpoint. */
#ifndef TOPK_SRC_CUDA_RTOPK_NUMBER_RANGE_CUH
#define TOPK_SRC_CUDA_RTOPK_NUMBER_RANGE_CUH

#include "numbers.cuh"

/* A search starts from the least and the greatest number. At least k are at or above low. */
template <typename Number> struct number_range { Number low, high; };

/* SUM_FITS: the sum of both ends is finite. */
template <bool SUM_FITS, typename Number> TOPK_DEVICE Number midpoint(const number_range<Number> &range) {
    const Number half = (Number)0.5, sum = simt_float_add(range.low, range.high);
    if (!SUM_FITS && simt_float_magnitude(sum) == infinity_of<Number>())
        return simt_float_add(simt_float_multiply(range.low, half), simt_float_multiply(range.high, half));
    return simt_float_multiply(sum, half);
}

template <typename Number> TOPK_DEVICE Number magnitude_of(const number_range<Number> &range) {
    return simt_float_max(simt_float_magnitude(range.low), simt_float_magnitude(range.high));
}

/* Whether a midpoint lies between no two numbers: then no step behind this one changes the range. */
template <typename Number> TOPK_DEVICE bool is_end(const number_range<Number> &range, Number middle) {
    return middle == range.low || middle == range.high;
}

/* Of the thread's whole groups. High is NaN if one of their numbers is. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE number_range<number_t<Element>> range_of_groups(const held_numbers<Element, ITEMS, WARPS> &held) {
    typedef held_shape<Element, ITEMS> shape;
    typedef number_t<Element> number;
    number_range<number> range = {infinity_of<number>(), -infinity_of<number>()};
    if (held.is_warp_behind())
        return range;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const bool is_whole = is_whole_group<false>(held, i / shape::PER);
        range.low = is_whole ? simt_float_min(range.low, held.items[i]) : range.low;
        range.high = is_whole ? simt_float_max_or_nan(range.high, held.items[i]) : range.high;
    }
    return range;
}

/* Whether one of the thread's groups ends behind the row and begins before. */
template <typename Held> TOPK_DEVICE bool has_part_of_group(const Held &held) {
    typedef typename Held::shape shape;
    const int32_t remaining = held.remaining(), of_thread = shape::GROUPS * shape::STEP;
    const uint32_t rest = (uint32_t)remaining % shape::STEP;
    return remaining > 0 && remaining < of_thread && rest > 0 && rest < shape::PER;
}

/* Of a thread's finite numbers. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE number_range<number_t<Element>>
range_of_finite_items(const held_numbers<Element, ITEMS, WARPS> &held, number_t<Element> largest) {
    typedef number_t<Element> number;
    number_range<number> range = {infinity_of<number>(), -infinity_of<number>()};
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const number item = held.items[i];
        if (simt_float_magnitude(item) <= largest) {
            range.low = simt_float_min(range.low, item);
            range.high = simt_float_max(range.high, item);
        }
    }
    return range;
}

/* Finds the range of the row's finite numbers, and the thread's greatest. Returns whether the row has no
 * other elements; else the range is left open. All threads. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE bool find_range(const held_numbers<Element, ITEMS, WARPS> &held, number_t<Element> largest,
                            row_team<WARPS> &team, number_range<number_t<Element>> *range,
                            number_t<Element> *greatest) {
    typedef number_t<Element> number;
    number_range<number> mine = range_of_groups(held);
    bool are_finite = !has_part_of_group(held) && mine.low >= -largest && mine.high <= largest;
    if (!are_finite) {
        mine = range_of_finite_items(held, largest);
        are_finite = count_finite_items(held, largest) == simt_popc(held.holding());
    }
    typename number_bits<number>::word low = ascending_of(mine.low), below_high; /* descends with high */
    below_high = are_finite ? ~ascending_of(mine.high) : 0;
    *greatest = mine.high;
    team.reduce_min_of_each(&low, &below_high);
    *range = {number_of_ascending<number>(low), number_of_ascending<number>(~below_high)};
    return below_high != 0; /* of no number */
}

/* Of the row's finite numbers, where it has others. All threads. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE number_range<number_t<Element>> finite_range(const held_numbers<Element, ITEMS, WARPS> &held,
                                                         number_t<Element> largest, row_team<WARPS> &team) {
    typedef number_t<Element> number;
    const number_range<number> mine = range_of_finite_items(held, largest);
    return {number_of_ascending<number>(team.reduce_min(ascending_of(mine.low))),
            number_of_ascending<number>(team.reduce_max(ascending_of(mine.high)))};
}

#endif
