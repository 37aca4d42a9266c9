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

/* The logarithm of a number above 0, by a chord for each power of two. */
TOPK_DEVICE float rough_log(uint32_t number) {
    const uint32_t power = 31 - simt_clz(number);
    return (float)power + (float)(number - (1u << power)) / (float)(1u << power);
}

/* How far into the bracket `rank` codes of the row lie above: if codes are spread evenly, and if they thin
 * out towards its end. */
struct expected_shares {
    float even, thinning;
};

template <typename Element>
TOPK_DEVICE struct expected_shares expect(const code_bracket<Element> &b, uint32_t rank) {
    const float count = rough_log(b.count + 1);
    return expected_shares{((float)b.count - (float)rank) / (float)b.candidates(),
                           (count - rough_log(rank + 1)) / (count - rough_log(b.above + 1))};
}

template <typename Element>
TOPK_DEVICE key_word_t<Element> code_at(const code_bracket<Element> &b, float share) {
    typedef key_word_t<Element> word;
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

/* Where the k-th code should be, by either law. In one step of four the upper pivot is between the laws. */
template <typename Element>
TOPK_DEVICE pivot_pair<Element> guess_pivots(const code_bracket<Element> &b, uint32_t k, uint32_t step) {
    const uint32_t margin = rough_root(b.candidates());
    const struct expected_shares low = expect(b, k + margin), high = expect(b, k > margin ? k - margin : 0);
    const float greater = high.even > high.thinning ? high.even : high.thinning;
    const key_word_t<Element> upper = code_at(b, step % 4 == 1 ? (high.even + high.thinning) / 2 : greater);
    return pivot_pair<Element>{code_at(b, low.even < low.thinning ? low.even : low.thinning),
                               upper + (upper < b.high ? 1 : 0)};
}

/* The pivots of a step: guesses, or thirds. The bracket is not closed. */
template <typename Element>
TOPK_DEVICE pivot_pair<Element> choose_pivots(const code_bracket<Element> &b, const struct code_map &map,
                                              uint32_t k, uint32_t step) {
    const key_word_t<Element> third = (b.high - b.low) / 3;
    pivot_pair<Element> p = {b.low + third + 1, b.high - third};
    if (step < RESIDENT_GUESSES)
        p = guess_pivots(b, k, step);
    else
        TOPK_REACHED(REACHED_RESIDENT_THIRDS);
    p.lower = fit_pivot(p.lower, b, map);
    p.upper = fit_pivot(p.upper, b, map);
    return p.lower < p.upper ? p : pivot_pair<Element>{p.upper, p.lower};
}

#endif
