/* SPDX-License-Identifier: Apache-2.0
 * What is known of the k-th key of a row. */
#ifndef TOPK_SRC_CUDA_RESIDENT_BRACKET_CUH
#define TOPK_SRC_CUDA_RESIDENT_BRACKET_CUH

#include "../codes.cuh"

/* The k-th key lies in [low, high]. */
template <typename Element> struct key_bracket {
    typedef key_word_t<Element> word;
    word low, high;
    uint32_t count; /* keys of the row at or above low: at least k */
    uint32_t above; /* keys above high: fewer than k */

    TOPK_MEMBER uint32_t candidates(void) const {
        return count - above;
    }
    /* Whether all candidates tie. */
    TOPK_MEMBER bool is_closed(void) const {
        return low == high;
    }
};

/* Divides the bracket at both pivots, which are above low, at most high and in this order. Counts: of keys at
 * or above them. */
template <typename Element>
TOPK_DEVICE void divide(key_word_t<Element> lower, key_word_t<Element> upper, uint32_t lower_count,
                        uint32_t upper_count, uint32_t k, key_bracket<Element> *b) {
    if (upper_count >= k) {
        b->low = upper;
        b->count = upper_count;
        return;
    }
    b->high = upper - 1;
    b->above = upper_count;
    if (lower_count >= k) {
        b->low = lower;
        b->count = lower_count;
    } else {
        b->high = lower - 1;
        b->above = lower_count;
    }
}

/* A power of two within a factor of 1.5 of the square root. */
TOPK_DEVICE uint32_t rough_root(uint32_t value) {
    return 1u << (32 - simt_clz(value)) / 2;
}

/* The key above which `rank` keys of the row lie if keys are spread evenly over the bracket. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> interpolate(const key_bracket<Element> &b, float rank) {
    typedef key_word_t<Element> word;
    const float share = ((float)b.count - rank) / (float)b.candidates();
    return share <= 0.0f ? b.low
                         : b.low + (word)((float)(b.high - b.low) * (share < 0.999f ? share : 0.999f));
}

template <typename Element> struct pivot_pair { key_word_t<Element> lower, upper; };

/* The pivots of a step: around the k-th key, by interpolation; or just inside both bounds, for a plateau; or
 * thirds. The bracket is not closed. */
template <typename Element>
TOPK_DEVICE pivot_pair<Element> choose_pivots(const key_bracket<Element> &b, uint32_t k, uint32_t step) {
    typedef key_word_t<Element> word;
    const word width = b.high - b.low, third = width / 3;
    pivot_pair<Element> p;
    if (step >= RESIDENT_GUESSES) {
        TOPK_REACHED(REACHED_RESIDENT_THIRDS);
        p = pivot_pair<Element>{b.low + third + 1, b.high - third};
    } else if (step % 2 != 0) {
        p = pivot_pair<Element>{b.low + 1, b.high};
    } else {
        const float margin = (float)rough_root(b.candidates()) + 0.5f;
        p = pivot_pair<Element>{interpolate(b, (float)k + margin), interpolate(b, (float)k - margin)};
        p.lower = p.lower > b.low ? p.lower : b.low + 1;
        p.upper = p.upper < b.high ? p.upper + 1 : b.high;
    }
    return p;
}

#endif
