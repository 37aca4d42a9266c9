/* SPDX-License-Identifier: Apache-2.0
 * What is known of the k-th code of a row. Codes are not cut (codes.cuh). */
#ifndef TOPK_SRC_CUDA_RESIDENT_BRACKET_CUH
#define TOPK_SRC_CUDA_RESIDENT_BRACKET_CUH

#include "../codes.cuh"

/* The k-th code lies in [low, high]; neither bound divides a class. */
template <typename Element> struct code_bracket {
    typedef key_word_t<Element> word;
    word low, high;
    uint32_t count; /* codes of the row at or above low: at least k */
    uint32_t above; /* codes above high: fewer than k */

    TOPK_MEMBER uint32_t candidates(void) const {
        return count - above;
    }
    /* Whether all candidates tie. */
    TOPK_MEMBER bool is_closed(const struct code_map &map) const {
        return high == uncut_class_last<Element>(low, map);
    }
};

/* Two codes, in this order. */
template <typename Element> struct pivot_pair { key_word_t<Element> lower, upper; };

/* Divides the bracket at both pivots, which are first codes of classes, above that of low and at most high.
 * Counts: of codes at or above them. */
template <typename Element>
TOPK_DEVICE void divide(const pivot_pair<Element> &p, uint32_t lower_count, uint32_t upper_count, uint32_t k,
                        code_bracket<Element> *b) {
    if (upper_count >= k) {
        b->low = p.upper;
        b->count = upper_count;
        return;
    }
    b->high = p.upper - 1;
    b->above = upper_count;
    if (lower_count >= k) {
        b->low = p.lower;
        b->count = lower_count;
    } else {
        b->high = p.lower - 1;
        b->above = lower_count;
    }
}

/* A power of two within a factor of 1.5 of the square root. */
TOPK_DEVICE uint32_t rough_root(uint32_t value) {
    return 1u << (32 - simt_clz(value)) / 2;
}

/* The code above which `rank` codes of the row lie if codes are spread evenly over the bracket. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> interpolate(const code_bracket<Element> &b, float rank) {
    typedef key_word_t<Element> word;
    const float share = ((float)b.count - rank) / (float)b.candidates();
    return share <= 0.0f ? b.low
                         : b.low + (word)((float)(b.high - b.low) * (share < 0.999f ? share : 0.999f));
}

/* Moves a pivot, which is in the bracket, to where it divides no class. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> fit_pivot(key_word_t<Element> pivot, const code_bracket<Element> &b,
                                          const struct code_map &map) {
    const key_word_t<Element> least = uncut_class_last<Element>(b.low, map) + 1;
    pivot = uncut_class_first<Element>(pivot, map);
    return pivot > least ? pivot : least;
}

/* The pivots of a step: around the k-th code, by interpolation; or just inside both bounds, for a plateau; or
 * thirds. The bracket is not closed. */
template <typename Element>
TOPK_DEVICE pivot_pair<Element> choose_pivots(const code_bracket<Element> &b, const struct code_map &map,
                                              uint32_t k, uint32_t step) {
    typedef key_word_t<Element> word;
    word lower = b.low, upper = b.high;
    if (step >= RESIDENT_GUESSES) {
        const word third = (b.high - b.low) / 3;
        TOPK_REACHED(REACHED_RESIDENT_THIRDS);
        lower = b.low + third + 1;
        upper = b.high - third;
    } else if (step % 2 == 0) {
        const float margin = (float)rough_root(b.candidates()) + 0.5f;
        lower = interpolate(b, (float)k + margin);
        upper = interpolate(b, (float)k - margin);
        upper += upper < b.high ? 1 : 0;
    }
    return pivot_pair<Element>{fit_pivot(lower, b, map), fit_pivot(upper, b, map)};
}

#endif
