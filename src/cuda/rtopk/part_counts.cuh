/* SPDX-License-Identifier: Apache-2.0
 * The k-th lead of a row by counting. How many leads reach a pivot tells on which side of it the k-th lies.
 *
 * Pivots are guesses, and counts alone decide: no rounding of a guess changes a result. Once a count is k the
 * items that reach the pivot are the results. */
#ifndef TOPK_SRC_CUDA_RTOPK_PART_COUNTS_CUH
#define TOPK_SRC_CUDA_RTOPK_PART_COUNTS_CUH

#include "../select/networks.cuh"
#include "part_results.cuh"

/* The k-th lead lies in [low, high]; neither bound divides a class. */
struct lead_bracket {
    uint32_t low, high;
    uint32_t surplus; /* leads at or above low, less k */
    uint32_t missing; /* k less the leads above high: at least 1 */

    template <typename Element> TOPK_MEMBER bool is_open(const struct lead_map &map) const {
        return surplus != 0 && high > class_end<Element>(low, map);
    }
    /* Both bounds were pivots, and leads of the row are below the lower one. */
    TOPK_MEMBER bool has_both(const struct uniform_rows &u) const {
        return u.k + surplus < u.length && high != ~0u;
    }
    /* One pivot, or the bound itself, ends the search once that bound is a lead of the row. */
    TOPK_MEMBER bool is_near(void) const {
        return surplus == 1 || missing == 1;
    }
    TOPK_MEMBER uint32_t middle(void) const {
        TOPK_REACHED(REACHED_RTOPK_COUNTS_HALVED);
        return low + (high - low) / 2 + 1;
    }
};

/* How far leads are apart: floats as numbers, for their leads are spread unevenly; all others as leads. */
template <typename Element> struct lead_scale {
    const struct uniform_rows &u;

    TOPK_MEMBER float number(uint32_t lead) const {
        const int32_t distance = (int32_t)(lead - u.origin);
        const uint32_t negative = (uint32_t)distance & 1u << 31;
        const uint32_t magnitude = negative != 0 ? 0u - (uint32_t)distance : (uint32_t)distance;
        if constexpr (sizeof(Element) == 8) {
            const float number = (float)simt_float_of_bits((uint64_t)magnitude << 32);
            return negative != 0 ? -number : number;
        } else {
            return simt_float_of_bits(negative | magnitude >> u.number_shift);
        }
    }
    TOPK_MEMBER uint32_t lead(float number) const {
        const uint32_t bits = simt_bits_of_float(number);
        uint32_t magnitude;
        if constexpr (sizeof(Element) == 8)
            magnitude = (uint32_t)(simt_bits_of_float((double)simt_float_magnitude(number)) >> 32);
        else
            magnitude = (bits & ~(1u << 31)) << u.number_shift;
        return (bits >> 31) != 0 ? u.origin - magnitude : u.origin + magnitude;
    }
    /* From a lead up to another. */
    TOPK_MEMBER float distance(uint32_t from, uint32_t to) const {
        return u.has_numbers ? number(to) - number(from) : (float)(to - from);
    }
    /* A lead so far above another, or below it. It may leave the range. */
    TOPK_MEMBER uint32_t move(uint32_t from, float distance, bool down) const {
        const float most = 0x1.fffffep31f;
        if (u.has_numbers)
            return lead(down ? number(from) - distance : number(from) + distance);
        const uint32_t leads = distance < most ? (uint32_t)distance : (uint32_t)most;
        return down ? from - leads : from + leads;
    }
};

/* The first pivot, and how far it must move for a rank. */
struct first_guess {
    uint32_t pivot;
    float of_rank;
};

/* From samples, sorted by each lane: two of them lie about the k-th lead. The best is not one of these, nor
 * is the worst, and so no outlier is. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE first_guess guess_first(const part_row<Element, ITEMS> &row, const struct uniform_rows &u) {
    const lead_scale<Element> scale = {u};
    const uint32_t STEP = ITEMS < RTOPK_SAMPLES ? 1 : ITEMS / RTOPK_SAMPLES; /* few items count twice */
    uint32_t samples[RTOPK_SAMPLES];
#pragma unroll
    for (uint32_t i = 0; i < RTOPK_SAMPLES; i++)
        samples[i] = row.leads[(i * STEP + i % (STEP < 4 ? STEP : 4)) % ITEMS];
    sort_words(samples);
    uint32_t upper = samples[1], lower = samples[2];
#pragma unroll
    for (uint32_t i = 2; i + 1 < RTOPK_SAMPLES; i++) { /* by masks, so that samples stay in registers */
        upper ^= (upper ^ samples[i]) & (i == u.upper_sample && i <= RTOPK_UPPER_SAMPLE ? ~0u : 0);
        lower ^= (lower ^ samples[i]) & (i == u.lower_sample ? ~0u : 0);
    }
    float spread = scale.distance(lower, upper);
    uint32_t pivot = scale.move(lower, spread * u.sample_share, false);
    /* The mean of what the lanes find apart; of their pivots one from the middle. */
#pragma unroll 1
    for (uint32_t s = 0; s < row.part.shift; s++) {
        const uint32_t other = exchange(pivot, 1u << s);
        pivot = (other < pivot) == (s % 2 == 0) ? other : pivot;
        spread += simt_float_of_bits(exchange(simt_bits_of_float(spread), 1u << s));
    }
    return first_guess{pivot, spread * u.rank_share};
}

/* The items whose leads are at or above a pivot above 0. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE item_set<ITEMS> items_at_or_above(const part_row<Element, ITEMS> &row, uint32_t pivot) {
    const uint32_t one = simt_unknown_one();
    item_set<ITEMS> set = {};
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        set.words[i / 32] = simt_count_from(set.words[i / 32], row.leads[i], pivot, 1u << i % 32, one);
    return set;
}

/* Moves the nearer bound to a lead of the row: which is the k-th, or its neighbour, if the bound is near. All
 * lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void tighten(const part_row<Element, ITEMS> &row, const struct lead_map &map, bool moves_high,
                         lead_bracket *b) {
    const uint32_t sign = moves_high ? ~0u : 1, origin = moves_high ? b->high : 0u - b->low;
    uint32_t least = ~0u;
    TOPK_REACHED(REACHED_RTOPK_COUNTS_TIGHTENED);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint32_t distance = row.leads[i] * sign + origin;
        least = distance < least ? distance : least;
    }
#pragma unroll 1
    for (uint32_t s = 0; s < row.part.shift; s++) {
        const uint32_t other = exchange(least, 1u << s);
        least = other < least ? other : least;
    }
    if (moves_high)
        b->high = class_end<Element>(b->high - least, map);
    else
        b->low = class_begin<Element>(b->low + least, map);
}

/* By interpolation between bounds; beyond a bound by what a rank takes in the samples. is_low: the last pivot
 * is the lower bound. */
template <typename Element>
TOPK_DEVICE uint32_t guess_next(const struct uniform_rows &u, const lead_bracket &b, bool is_low,
                                float of_rank) {
    const lead_scale<Element> scale = {u};
    const bool has_both = b.has_both(u), goes_down = !has_both && !is_low;
    const float between = simt_float_reciprocal_near((float)(b.surplus + b.missing + 1));
    const float rank = has_both ? scale.distance(b.low, b.high) * between : of_rank;
    const float ranks = (float)(goes_down ? b.missing : b.surplus) + (has_both ? 0.5f : 0.0f);
    return scale.move(goes_down ? b.high : b.low, rank * ranks, goes_down);
}

/* Moves a pivot into an open bracket, to where it divides no class. */
template <typename Element>
TOPK_DEVICE uint32_t fit_lead(uint32_t pivot, const lead_bracket &b, const struct lead_map &map) {
    pivot = class_begin<Element>(pivot < b.high ? pivot : b.high, map);
    return pivot > b.low ? pivot : class_end<Element>(b.low, map) + 1;
}

/* A pivot that `count` leads reach becomes a bound. */
TOPK_DEVICE void divide(uint32_t pivot, uint32_t count, uint32_t k, lead_bracket *b) {
    if (count >= k) {
        b->low = pivot;
        b->surplus = count - k;
    } else {
        b->high = pivot - 1;
        b->missing = k - count;
    }
}

/* The results of the lane's row, whose least lead a search by counting finds. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE lane_results<ITEMS> results_by_counts(const part_row<Element, ITEMS> &row,
                                                  const struct uniform_rows &u) {
    const first_guess first = guess_first(row, u);
    float of_rank = first.of_rank;
    lead_bracket b = {0, ~0u, u.length - u.k, u.k};
    uint32_t pivot = fit_lead<Element>(first.pivot, b, u.map);
    bool is_open = b.surplus != 0;
    item_set<ITEMS> items = {};
#pragma unroll 1
    for (uint32_t step = 0; simt_any(SIMT_ALL_LANES, is_open); step++) {
        items = items_at_or_above(row, pivot);
        const uint32_t count = part_sum(row.part, items.count()), between = b.surplus + b.missing;
        if (is_open)
            divide(pivot, count, u.k, &b);
        is_open = b.is_open<Element>(u.map);
        if (!simt_any(SIMT_ALL_LANES, is_open))
            break;
        const bool is_stuck = b.surplus + b.missing == between && step < RTOPK_GUESSES;
        if (simt_all(SIMT_ALL_LANES, !is_open || b.is_near() || is_stuck)) {
            const bool moves_high = b.surplus != 1 && b.missing == 1;
            tighten(row, u.map, moves_high, &b);
            is_open = b.is_open<Element>(u.map);
            if (is_open)
                pivot = fit_lead<Element>(moves_high ? b.high : b.low, b, u.map);
        } else if (is_open) {
            pivot = step < RTOPK_GUESSES ? guess_next<Element>(u, b, count >= u.k, of_rank) : b.middle();
            pivot = fit_lead<Element>(pivot, b, u.map);
            of_rank *= b.has_both(u) ? 1.0f : 2.0f;
        }
    }
    /* Ties with the k-th lead, and a row that has no lead below its k-th, take the search no further. */
    if (!simt_all(SIMT_ALL_LANES, b.surplus == 0 && b.low != 0))
        items = items_from(row, u, class_begin<Element>(b.low, u.map));
    return results_among(row, u, b.low, items);
}

#endif
