/* SPDX-License-Identifier: Apache-2.0
 * A call's predicate in registers. */
#ifndef TOPK_SRC_CUDA_PREDICATE_MATCHER_CUH
#define TOPK_SRC_CUDA_PREDICATE_MATCHER_CUH

#include "../codes.cuh"
#include "args.h"

/* The match of a comparison. A launch has read the bounds, if the device has to. */
TOPK_DEVICE struct match match_of(const struct predicate_args &p) {
    return p.bounds.values != nullptr ? *p.bounds.found : p.match;
}

/* Which elements match. WHERE: those that meet the call's predicate; otherwise all. */
template <typename Element, bool WHERE> struct matcher {
    static const bool none = false;
    static TOPK_MEMBER matcher of(const struct predicate_args &) {
        return matcher{};
    }
};

template <typename Element> struct matcher<Element, true> {
    typedef key_word_t<Element> word;
    const uint8_t *mask; /* or NULL: elements are compared */
    bool mask_has_bits;  /* otherwise bytes */
    word flip;
    word begin, span; /* the arc of points that match */
    bool none;        /* no element matches */

    /* The complement of an arc is an arc, but for the full circle, whose complement is empty. */
    static TOPK_MEMBER matcher of(const struct predicate_args &p) {
        const word ones = (word)(Element) ~(Element)0;
        const struct match match = match_of(p);
        const word begin = (word)match.arc.begin, span = (word)match.arc.span;
        matcher m = {(const uint8_t *)p.mask, p.mask_has_bits, (word)p.flip, begin, span, false};
        if (match.complement) {
            m.begin = (begin + span + 1) & ones;
            m.span = (ones - 1 - span) & ones;
            m.none = span == ones;
        }
        return m;
    }

    TOPK_MEMBER bool in_arc(word element) const {
        word negative = (word)0 - (element >> (8 * sizeof(Element) - 1));
        word turned = (element ^ (negative & flip)) - begin;
        if (sizeof(Element) < sizeof(word))
            turned &= (word)(Element) ~(Element)0;
        return turned <= span;
    }
    /* What the mask says of element `index` of the input. */
    TOPK_MEMBER bool is_masked_in(int64_t index) const {
        if (mask_has_bits)
            return (simt_load_read_only(mask + (uint64_t)index / 8) >> (uint32_t)index % 8 & 1) != 0;
        return simt_load_read_only(mask + index) != 0;
    }
};

#endif
