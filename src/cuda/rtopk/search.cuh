/* SPDX-License-Identifier: Apache-2.0
 * The search for a row's threshold, on exact counts. */
#ifndef TOPK_SRC_CUDA_RTOPK_SEARCH_CUH
#define TOPK_SRC_CUDA_RTOPK_SEARCH_CUH

#include "entries.cuh"

/* The k-th code lies in [low, high]; neither bound divides a class. */
template <typename Element> struct warp_bracket {
    key_word_t<Element> low, high;
    uint32_t count;               /* codes of the row at or above low: at least k */
    uint32_t above;               /* codes above high: fewer than k */
    key_word_t<Element> greatest; /* the last code of the row's best class */

    /* Whether all codes in it are one class. */
    TOPK_MEMBER bool is_closed(const struct code_map &map) const {
        return high == class_last<Element>(low, map);
    }
};

/* The greatest code of the lane's. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE key_word_t<Element> greatest_of_lane(const held_row<Element, ITEMS> &held) {
    key_word_t<Element> greatest = held.items[0];
#pragma unroll
    for (uint32_t i = 1; i < ITEMS; i++)
        greatest = held.items[i] > greatest ? held.items[i] : greatest;
    return greatest;
}

/* The least code at or above `low`, which is not above all of them. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE key_word_t<Element> least_from(const held_row<Element, ITEMS> &held, key_word_t<Element> low) {
    key_word_t<Element> least = ~(key_word_t<Element>)0;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        least = held.items[i] >= low && held.items[i] < least ? held.items[i] : least;
    return simt_reduce_min(SIMT_ALL_LANES, least);
}

/* The least code of the row. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE key_word_t<Element> least_of_row(const held_row<Element, ITEMS> &held) {
    key_word_t<Element> least = ~(key_word_t<Element>)0;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        least = held.holds(i) && held.items[i] < least ? held.items[i] : least;
    return simt_reduce_min(SIMT_ALL_LANES, least);
}

/* A code of the row, or 0: of all lanes a sample. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE key_word_t<Element> sample_of_lane(const held_row<Element, ITEMS> &held) {
    return simt_lane() % 2 == 0 ? held.items[0] : held.items[ITEMS / 2];
}

/* Where the code of a rank lies if codes are spread evenly over the bracket: above `above`, up to `count`. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> interpolate(const warp_bracket<Element> &b, uint32_t rank) {
    typedef key_word_t<Element> word;
    const float share =
        ((float)(b.count - rank) + 0.5f) * simt_float_reciprocal_near((float)(b.count - b.above));
    return b.low + (word)((float)(b.high - b.low) * share);
}

/* Divides the bracket at `pivot`, which becomes a bound: a code above low and at most high. All lanes. */
template <typename Element, typename Codes>
TOPK_DEVICE void divide(const Codes &held, key_word_t<Element> pivot, uint32_t k, warp_bracket<Element> *b) {
    const uint32_t count = count_from(held, pivot);
    if (count >= k) {
        b->low = pivot;
        b->count = count;
    } else {
        b->high = pivot - 1;
        b->above = count;
    }
}

/* Moves a pivot, which is in the bracket, to where it divides no class. The bracket is not closed. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> fit_pivot(key_word_t<Element> pivot, const warp_bracket<Element> &b,
                                          const struct code_map &map) {
    pivot = class_first<Element>(pivot, map);
    return pivot > b.low ? pivot : class_last<Element>(b.low, map) + 1;
}

/* Where a search for the k-th code ends, and its guesses. */
struct narrowing {
    uint32_t k, enough;
    uint32_t rank;    /* k to enough: interpolation looks for its code */
    uint32_t plateau; /* the step that tests for a plateau at the lower bound */
};

/* Narrows the bracket until it is closed, or `enough` codes at most are at or above its lower bound, or just
 * k are. `held`: a row, or all of its codes at or above that bound (listed.cuh). The first pivots are
 * guesses. All lanes. */
template <typename Element, typename Codes>
TOPK_DEVICE void narrow_bracket(const Codes &held, const struct code_map &map, const struct narrowing &n,
                                warp_bracket<Element> *b) {
    typedef key_word_t<Element> word;
    for (uint32_t step = 0; b->count > n.enough && b->count != n.k && !b->is_closed(map); step++) {
        word pivot = b->low + (b->high - b->low) / 2 + 1;
        if (step == n.plateau)
            pivot = b->low;
        else if (step < RTOPK_GUESSES)
            pivot = interpolate(*b, n.rank);
        else
            TOPK_REACHED(REACHED_RTOPK_BISECTION);
        divide(held, fit_pivot<Element>(pivot, *b, map), n.k, b);
    }
}

/* A bracket of all codes of the row, divided by a sample: a code of each lane. */
template <typename Element, typename Codes>
TOPK_DEVICE warp_bracket<Element> sampled_bracket(const Codes &held, const struct code_map &map, uint32_t k,
                                                  key_word_t<Element> greatest) {
    typedef key_word_t<Element> word;
    const uint32_t length = held.count;
    const word sample = sample_of_lane(held);
    const uint32_t samples = simt_popc(simt_ballot(SIMT_ALL_LANES, sample != 0));
    const word pivot = simt_shuffle(SIMT_ALL_LANES, sort_lanes(sample), (k - 1) * samples / length);
    warp_bracket<Element> b = {0, greatest, length, 0, greatest};
    if (pivot > 0 && !b.is_closed(map))
        divide(held, fit_pivot<Element>(pivot, b, map), k, &b);
    return b;
}

/* The bracket of a row's k-th code, 1 to its length. Up to 32, the k-th best of the lanes' best is a lower
 * bound, and few codes are above. All lanes. */
template <typename Element, typename Codes>
TOPK_DEVICE warp_bracket<Element> find_bracket(const Codes &held, const struct code_map &map,
                                               const struct narrowing &n) {
    typedef key_word_t<Element> word;
    const uint32_t k = n.k;
    const word of_lane = greatest_of_lane(held);
    const word greatest = class_last<Element>(simt_reduce_max(SIMT_ALL_LANES, of_lane), map);
    warp_bracket<Element> b;
    if (k <= SIMT_WARP) {
        const word low = simt_shuffle(SIMT_ALL_LANES, sort_lanes(of_lane), k - 1);
        b = warp_bracket<Element>{class_first<Element>(low, map), greatest, 0, 0, greatest};
        b.count = count_from(held, b.low);
    } else {
        b = sampled_bracket<Element>(held, map, k, greatest);
    }
    if (b.low == 0)
        b.low = class_first<Element>(least_of_row(held), map);
    narrow_bracket(held, map, n, &b);
    return b;
}

#endif
