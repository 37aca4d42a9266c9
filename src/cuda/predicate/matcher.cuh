/* SPDX-License-Identifier: Apache-2.0
 * A call's predicate in registers. */
#ifndef TOPK_SRC_CUDA_PREDICATE_MATCHER_CUH
#define TOPK_SRC_CUDA_PREDICATE_MATCHER_CUH

#include "arcs.cuh"

/* Which elements match. WHERE: those that meet the call's predicate; otherwise all. */
template <typename Element, bool WHERE> struct matcher {
    static const bool none = false;
    static TOPK_MEMBER matcher of(const struct predicate_args &) {
        return matcher{};
    }
};

template <typename Element> struct matcher<Element, true> : arc_test<Element, false> {
    const uint8_t *mask; /* or NULL: elements are compared */
    bool mask_has_bits;  /* otherwise bytes */

    static TOPK_MEMBER matcher of(const struct predicate_args &p) {
        return matcher{arc_test<Element, false>::of(p), (const uint8_t *)p.mask, p.mask_has_bits};
    }

    TOPK_MEMBER bool in_arc(key_word_t<Element> bits) const {
        return this->template holds<true>(bits);
    }
    /* What the mask says of element `index` of the input. */
    TOPK_MEMBER bool is_masked_in(int64_t index) const {
        return mask_has_bits ? bit_of_mask(index) : byte_of_mask(index);
    }
    TOPK_MEMBER bool bit_of_mask(int64_t index) const {
        return (simt_load_read_only(mask + (uint64_t)index / 8) >> (uint32_t)index % 8 & 1) != 0;
    }
    TOPK_MEMBER bool byte_of_mask(int64_t index) const {
        return simt_load_read_only(mask + index) != 0;
    }
};

#endif
