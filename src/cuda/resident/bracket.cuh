/* SPDX-License-Identifier: Apache-2.0
 * What is known of the k-th code of a row. Codes are not cut (codes.cuh). */
#ifndef TOPK_SRC_CUDA_RESIDENT_BRACKET_CUH
#define TOPK_SRC_CUDA_RESIDENT_BRACKET_CUH

#include "../codes.cuh"

/* How many there are in the row, and in the blocks before this one. */
struct row_count {
    uint32_t all, before;
};

/* The k-th code lies in [low, high]; neither bound divides a class. */
template <typename Element> struct code_bracket {
    typedef key_word_t<Element> word;
    word low, high;
    struct row_count count; /* codes of the row at or above low: at least k */
    struct row_count above; /* codes above high: fewer than k */
    uint32_t all;           /* the thread's items at or above low */
    uint32_t winners;       /* the thread's items above high */

    TOPK_MEMBER uint32_t candidates(void) const {
        return count.all - above.all;
    }
    /* Whether all candidates tie. */
    TOPK_MEMBER bool is_closed(const struct code_map &map) const {
        return high == uncut_class_last<Element>(low, map);
    }
};

/* Two codes, in this order. */
template <typename Element> struct pivot_pair { key_word_t<Element> lower, upper; };

/* The thread's items at or above a pivot, and how many items of the row are. */
struct pivot_hits {
    uint32_t hits;
    struct row_count count;
};

/* Divides the bracket at a pivot. */
template <typename Element>
TOPK_DEVICE void divide_at(key_word_t<Element> pivot, const struct pivot_hits &found, uint32_t k,
                           code_bracket<Element> *b) {
    const bool reaches = found.count.all >= k; /* selected, not branched */
    b->low = reaches ? pivot : b->low;
    b->count.all = reaches ? found.count.all : b->count.all;
    b->count.before = reaches ? found.count.before : b->count.before;
    b->all = reaches ? found.hits : b->all;
    b->high = reaches ? b->high : pivot - 1;
    b->above.all = reaches ? b->above.all : found.count.all;
    b->above.before = reaches ? b->above.before : found.count.before;
    b->winners = reaches ? b->winners : found.hits;
}

/* The square root of a number above 0, to within a tenth: a power of two, and a step of Newton's. */
TOPK_DEVICE uint32_t rough_root(uint32_t value) {
    const uint32_t bits = (32 - simt_clz(value)) / 2;
    return ((1u << bits) + (value >> bits)) / 2;
}

/* The logarithm of a number above 0, in some unit, by a chord for each power of two: the bits of a float. */
TOPK_DEVICE int32_t rough_log(uint32_t number) {
    return (int32_t)simt_bits_of_float((float)number);
}

/* How far into the bracket `rank` codes of the row lie above: if codes are spread evenly, and if they thin
 * out towards its end. */
struct expected_shares {
    float even, thinning;
};

/* What tells them. */
struct code_laws {
    uint32_t count;
    int32_t log;           /* of `count` */
    float of_code, of_log; /* of one */
};

template <typename Element> TOPK_DEVICE struct code_laws laws_of(const code_bracket<Element> &b) {
    const int32_t log = rough_log(b.count.all + 1);
    return code_laws{b.count.all, log, simt_float_reciprocal_near((float)b.candidates()),
                     simt_float_reciprocal_near((float)(log - rough_log(b.above.all + 1)))};
}

TOPK_DEVICE struct expected_shares expect(const struct code_laws &laws, uint32_t rank) {
    return expected_shares{(float)((int32_t)laws.count - (int32_t)rank) * laws.of_code,
                           (float)(laws.log - rough_log(rank + 1)) * laws.of_log};
}

template <typename Element>
TOPK_DEVICE key_word_t<Element> code_at(const code_bracket<Element> &b, float share) {
    typedef key_word_t<Element> word;
    return share <= 0.0f ? b.low
                         : b.low + (word)((float)(b.high - b.low) * (share < 0.999f ? share : 0.999f));
}

/* Moves a pivot, which is in the bracket, to where it divides no class. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> fit_to_classes(key_word_t<Element> pivot, const code_bracket<Element> &b,
                                               const struct code_map &map) {
    const key_word_t<Element> least = uncut_class_last<Element>(b.low, map) + 1;
    pivot = uncut_class_first<Element>(pivot, map);
    return pivot > least ? pivot : least;
}

/* Where the k-th code should be, by either law. In one step of four the upper pivot is between the laws. */
template <typename Element>
TOPK_DEVICE pivot_pair<Element> guess_pivots(const code_bracket<Element> &b, uint32_t k, uint32_t step) {
    const uint32_t margin = rough_root(b.candidates());
    const struct code_laws laws = laws_of(b);
    const struct expected_shares low = expect(laws, k + margin),
                                 high = expect(laws, k > margin ? k - margin : 0);
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
    p.lower = fit_to_classes(p.lower, b, map);
    p.upper = fit_to_classes(p.upper, b, map);
    return p.lower < p.upper ? p : pivot_pair<Element>{p.upper, p.lower};
}

#endif
