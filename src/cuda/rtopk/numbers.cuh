/* SPDX-License-Identifier: Apache-2.0
 * A row in the registers of a team as numbers: the larger the better. What is not of the row is NaN, which no
 * comparison finds. */
#ifndef TOPK_SRC_CUDA_RTOPK_NUMBERS_CUH
#define TOPK_SRC_CUDA_RTOPK_NUMBERS_CUH

#include "../select/held.cuh"
#include "numbers.h"

/* The precision of an approximation, and its bits. */
template <typename Element> struct number_of { typedef float type; };
template <> struct number_of<uint64_t> { typedef double type; };
template <typename Element> using number_t = typename number_of<Element>::type;

template <typename Number> struct number_bits;
template <> struct number_bits<float> {
    typedef uint32_t word;
    static const word INFINITE = (word)0xff << 23, NOT_A_NUMBER = INFINITE | 1u << 22;
};
template <> struct number_bits<double> {
    typedef uint64_t word;
    static const word INFINITE = (word)0x7ff << 52, NOT_A_NUMBER = INFINITE | (word)1 << 51;
};

template <typename Number> TOPK_DEVICE Number infinity_of(void) {
    return simt_float_of_bits((typename number_bits<Number>::word)number_bits<Number>::INFINITE);
}

/* A map of held.cuh. */
template <typename Element> struct as_numbers {
    typedef number_t<Element> word;
    static const bool FILTERS = false;
    const struct number_map &map;

    TOPK_MEMBER word of(key_word_t<Element> bits) const {
        if constexpr (sizeof(Element) >= 4) {
            return simt_float_of_bits(bits); /* orient_numbers() */
        } else {
            const uint32_t top = (uint32_t)bits << (32 - 8 * sizeof(Element));
            const uint32_t moved = (uint32_t)((int32_t)top >> map.shift) & (uint32_t)map.keep;
            return simt_float_multiply(simt_float_of_bits(moved), simt_float_of_bits(map.scale));
        }
    }
    static TOPK_MEMBER word nothing(void) {
        return simt_float_of_bits((typename number_bits<word>::word)number_bits<word>::NOT_A_NUMBER);
    }
    TOPK_MEMBER word magnitude_of(uint64_t bits) const {
        return simt_float_magnitude(of((key_word_t<Element>)bits));
    }
};

template <typename Element, uint32_t ITEMS, uint32_t WARPS>
using held_numbers = held_row<Element, ITEMS, WARPS, number_t<Element>>;

/* Takes signs off or turns them, where the order asks for it: numbers of narrow types come so. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void orient_numbers(const struct number_map &map, number_t<Element> (&items)[ITEMS]) {
    if constexpr (sizeof(Element) >= 4) {
        typedef key_word_t<Element> word;
        const word keep = (word)map.keep, negate = (word)map.negate;
        if (keep == (word) ~(word)0 && negate == 0)
            return;
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++) {
            const word bits = simt_bits_of_float(items[i]);
            items[i] = simt_float_of_bits((word)((bits & keep) ^ negate));
        }
    }
}

/* Integers that ascend with the numbers, for reductions; none is NaN. */
template <typename Number> TOPK_DEVICE typename number_bits<Number>::word ascending_of(Number number) {
    typedef typename number_bits<Number>::word word;
    const word bits = simt_bits_of_float(number), sign = (word)1 << (8 * sizeof(word) - 1);
    return bits & sign ? ~bits : bits | sign;
}

template <typename Number>
TOPK_DEVICE Number number_of_ascending(typename number_bits<Number>::word ascending) {
    typedef typename number_bits<Number>::word word;
    const word sign = (word)1 << (8 * sizeof(word) - 1);
    return simt_float_of_bits((word)(ascending & sign ? ascending ^ sign : ~ascending));
}

/* Hits of a thread, as with codes: the numbers at or above `low`. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE uint32_t number_hits_from(const held_numbers<Element, ITEMS, WARPS> &held,
                                      number_t<Element> low) {
    const uint32_t one = simt_unknown_one();
    uint32_t hits = 0;
    if (held.is_warp_behind())
        return 0;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        hits = simt_count_from(hits, held.items[i], low, 1u << i, one);
    return hits;
}

/* How many of the thread's numbers are at or above `low`. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE uint32_t count_items_from(const held_numbers<Element, ITEMS, WARPS> &held,
                                      number_t<Element> low) {
    simt_tally<number_t<Element>> tally;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        tally.add_if_at_least(held.items[i], low);
    return tally.count();
}

/* How many numbers are at or above `low`. All threads. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE uint32_t count_numbers_from(const held_numbers<Element, ITEMS, WARPS> &held,
                                        number_t<Element> low, row_team<WARPS> &team) {
    return team.reduce_add(held.is_warp_behind() ? 0 : count_items_from(held, low));
}

/* How many of the thread's numbers have a magnitude of at most `largest`. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE uint32_t count_finite_items(const held_numbers<Element, ITEMS, WARPS> &held,
                                        number_t<Element> largest) {
    simt_tally<number_t<Element>> tally;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        tally.add_if_at_least(largest, simt_float_magnitude(held.items[i]));
    return tally.count();
}

#endif
