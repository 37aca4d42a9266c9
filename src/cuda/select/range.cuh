/* SPDX-License-Identifier: Apache-2.0
 * The range that the k-th code lies in, and the digits that narrow it. */
#ifndef TOPK_SRC_CUDA_SELECT_RANGE_CUH
#define TOPK_SRC_CUDA_SELECT_RANGE_CUH

#include "../codes.cuh"
#include "args.h"

/* The range in registers, as elements are compared with it. */
template <typename Element> struct code_range {
    typedef key_word_t<Element> word;
    const struct code_map &map;
    word low, span; /* low to low + span */

    TOPK_MEMBER word code(word bits) const {
        return code_of<Element>(bits, map);
    }
    TOPK_MEMBER bool is_hit(word code) const {
        return code >= low;
    }
    TOPK_MEMBER bool holds(word code) const {
        return code - low <= span;
    }
    TOPK_MEMBER bool is_below(word code) const {
        return code > low + span;
    }
};

template <typename Element>
TOPK_DEVICE code_range<Element> code_range_of(const struct code_map &map, const struct kth_range &range) {
    typedef key_word_t<Element> word;
    return code_range<Element>{map, (word)range.low, (word)(range.high - range.low)};
}

/* All codes. */
template <typename Element> TOPK_DEVICE struct kth_range whole_range(uint64_t need, uint64_t candidates) {
    return kth_range{0, ~(uint64_t)0 >> (64 - 8 * sizeof(Element)), need, candidates};
}

/* Whether no further digit is needed; `unknown` bits have not been looked at. */
TOPK_DEVICE bool is_decided(const struct digit_plan &plan, const struct kth_range &range, uint32_t unknown) {
    const uint64_t besides = range.candidates - range.need;
    if (unknown != 0 && plan.early_stop && besides != 0 && besides <= plan.surplus)
        TOPK_REACHED(REACHED_DRTOPK_BOUND);
    return unknown == 0 || (plan.early_stop && besides <= plan.surplus);
}

/* The highest digit of the lowest *unknown bits, which are the fewer by it. */
TOPK_DEVICE struct digit next_digit(const struct digit_plan &plan, uint32_t *unknown) {
    uint32_t bits = *unknown < plan.bits ? *unknown : plan.bits;
    *unknown -= bits;
    return digit{*unknown, (1u << bits) - 1};
}

/* The digit that cuts a range into at most 2^bits parts of equal width, from its low end on. */
TOPK_DEVICE struct digit digit_of_range(uint32_t bits, const struct kth_range &range) {
    const uint32_t width = 64 - simt_clz(range.high - range.low);
    return digit{width > bits ? width - bits : 0, (1u << bits) - 1};
}

template <typename Element> TOPK_DEVICE uint32_t bin_of(key_word_t<Element> code, struct digit digit) {
    return (uint32_t)(code >> digit.shift) & digit.mask;
}

#endif
