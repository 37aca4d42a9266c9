/* SPDX-License-Identifier: Apache-2.0
 * RTop-K's searches between the least and the greatest number of a row (CONTRACT.md 2.5). */
#ifndef TOPK_SRC_CUDA_RTOPK_APPROXIMATE_CUH
#define TOPK_SRC_CUDA_RTOPK_APPROXIMATE_CUH

#include "approximate.h"
#include "number_range.cuh"

/* What a search ends with: the numbers at or above `fewer` are results, and the first of the others that are
 * at or above low. */
template <typename Number> struct number_cut {
    Number low, fewer;
    uint32_t above; /* numbers at or above fewer: less than k */
};

/* Counts at or above midpoints, for a search of the k-th number. The greatest number of each thread is looked
 * at first: if they tell of more than k, the count is theirs and need not be exact. Once they do not, they
 * will hardly do so again. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS> struct midpoint_counts {
    const held_numbers<Element, ITEMS, WARPS> &held;
    uint32_t k;
    number_t<Element> greatest; /* of the thread */
    bool is_by_threads;

    TOPK_MEMBER uint32_t from(number_t<Element> middle, row_team<WARPS> &team) {
        if (WARPS > 1 && is_by_threads) {
            const uint32_t threads = team.count(greatest >= middle);
            if (threads > k) {
                TOPK_REACHED(REACHED_RTOPK_BY_THREADS);
                return threads;
            }
            is_by_threads = false;
        }
        return count_numbers_from(held, middle, team);
    }
};

/* Algorithm 2. All threads, as below. */
template <bool SUM_FITS, typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE number_range<number_t<Element>> halve(midpoint_counts<Element, ITEMS, WARPS> counts,
                                                  number_range<number_t<Element>> range, uint32_t steps,
                                                  row_team<WARPS> &team) {
    for (bool last = false; steps != 0 && !last; steps--) {
        const number_t<Element> middle = midpoint<SUM_FITS>(range);
        last = is_end(range, middle);
        const bool is_low = counts.from(middle, team) >= counts.k;
        range = {is_low ? middle : range.low, is_low ? range.high : middle};
    }
    return range;
}

template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE number_cut<number_t<Element>>
stop_early(const midpoint_counts<Element, ITEMS, WARPS> &counts, const number_range<number_t<Element>> &range,
           uint32_t max_iterations, uint32_t above, row_team<WARPS> &team) {
    typedef number_t<Element> number;
    const bool sum_fits = simt_float_magnitude(simt_float_add(magnitude_of(range), magnitude_of(range))) <
                          infinity_of<number>();
    const number_range<number> halved = sum_fits ? halve<true>(counts, range, max_iterations, team)
                                                 : halve<false>(counts, range, max_iterations, team);
    return {halved.low, infinity_of<number>(), above};
}

/* Algorithm 1. As printed it does not end where no number lies between low and high. Here it does, after
 * high, which may be the greatest number and was never counted then. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE number_cut<number_t<Element>>
narrow_down(midpoint_counts<Element, ITEMS, WARPS> counts, number_range<number_t<Element>> range,
            number_t<Element> wanted, uint32_t above, row_team<WARPS> &team) {
    typedef number_t<Element> number;
    number fewer = infinity_of<number>();
    for (bool last = false; !last && simt_float_add(range.high, -range.low) > wanted;) {
        number middle = midpoint<false>(range);
        last = is_end(range, middle);
        middle = last ? range.high : middle;
        const uint32_t count = counts.from(middle, team);
        if (count == counts.k)
            return {middle, infinity_of<number>(), 0}; /* there are k of them */
        if (count < counts.k) {
            TOPK_REACHED(REACHED_RTOPK_FEWER);
            range.high = fewer = middle;
            above = count;
        } else {
            range.low = middle;
        }
    }
    return {range.low, fewer, above};
}

template <typename Number>
TOPK_DEVICE Number width_wanted(const struct approximate_args &a, const number_range<Number> &range) {
    if (a.epsilon != 0)
        return (Number)a.epsilon;
    return simt_float_multiply((Number)a.epsilon_relative, magnitude_of(range));
}

/* ---- Elements that are not finite ---- */

/* Where an element ranks: 0 with the numbers, or above or below them. Without branches: threads make tiers of
 * all their items. */
template <typename Number> struct tier_map {
    Number largest, infinity, of_nan;

    TOPK_MEMBER Number of(Number element) const {
        const Number magnitude = simt_float_magnitude(element), of_infinity = element > 0 ? 1 : -1;
        const Number of_other = magnitude <= infinity ? of_infinity : of_nan;
        return magnitude <= largest ? 0 : of_other;
    }
};

template <typename Element>
TOPK_DEVICE tier_map<number_t<Element>> tiers_of(const struct number_map &numbers) {
    const as_numbers<Element> map = {numbers};
    return {map.magnitude_of(numbers.largest), map.magnitude_of(numbers.infinity),
            (number_t<Element>)(numbers.nan_is_best ? 2 : -2)};
}

/* How many elements rank above all numbers. All threads. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE uint32_t count_above(const held_numbers<Element, ITEMS, WARPS> &held,
                                 const tier_map<number_t<Element>> &tiers, row_team<WARPS> &team) {
    const uint32_t holding = held.holding();
    uint32_t count = 0;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        count += tiers.of(held.items[i]) > 0 ? holding >> i & 1 : 0;
    return team.reduce_add(count);
}

/* Makes infinities of the elements that are not finite, so that they compare as they rank; or, if `to_tiers`,
 * makes all elements their tiers. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE void replace_others(const tier_map<number_t<Element>> &tiers, bool to_tiers,
                                held_numbers<Element, ITEMS, WARPS> *held) {
    typedef number_t<Element> number;
    const uint32_t holding = held->holding();
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const number item = held->items[i], tier = tiers.of(item);
        const number rank = tier > 0 ? infinity_of<number>() : -infinity_of<number>();
        const number word = to_tiers ? tier : tier != 0 ? rank : item;
        held->items[i] = (holding >> i & 1) != 0 ? word : item;
    }
}

/* The exact cut of a row of tiers. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE number_cut<number_t<Element>> cut_tiers(const held_numbers<Element, ITEMS, WARPS> &held,
                                                    uint32_t k, row_team<WARPS> &team) {
    number_cut<number_t<Element>> cut = {2, 3, 0};
    for (uint32_t count = count_numbers_from(held, cut.low, team); count < k;
         count = count_numbers_from(held, cut.low, team)) {
        cut = {cut.low - 1, cut.low, count};
    }
    return cut;
}

/* ---- Both ---- */

/* Of a row with k elements at least, and k at least 1. Replaces elements that are not finite. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE number_cut<number_t<Element>> find_cut(const struct approximate_args &a, uint32_t k,
                                                   row_team<WARPS> &team,
                                                   held_numbers<Element, ITEMS, WARPS> *held) {
    typedef number_t<Element> number;
    const tier_map<number> tiers = tiers_of<Element>(a.numbers);
    number_range<number> range;
    uint32_t above = 0;
    midpoint_counts<Element, ITEMS, WARPS> counts = {*held, k, 0, k < team.THREADS};
    if (!find_range(*held, tiers.largest, team, &range, &counts.greatest)) {
        TOPK_REACHED(REACHED_RTOPK_NOT_FINITE);
        counts.is_by_threads = false;
        const uint32_t finite = team.reduce_add(count_finite_items(*held, tiers.largest));
        range = finite_range(*held, tiers.largest, team);
        above = count_above(*held, tiers, team);
        const bool is_finite = k > above && k <= above + finite;
        replace_others(tiers, !is_finite, held);
        if (!is_finite) {
            TOPK_REACHED(REACHED_RTOPK_KTH_NOT_FINITE);
            return cut_tiers(*held, k, team);
        }
    }
    return a.max_iterations > 0 ? stop_early(counts, range, a.max_iterations, above, team)
                                : narrow_down(counts, range, width_wanted(a, range), above, team);
}

#endif
