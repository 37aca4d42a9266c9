/* SPDX-License-Identifier: Apache-2.0
 * A row in registers; only elements that match take part. */
#ifndef TOPK_SRC_CUDA_SELECT_MATCHES_CUH
#define TOPK_SRC_CUDA_SELECT_MATCHES_CUH

#include "../predicate/matcher.cuh"
#include "held.cuh"

/* Another map, for the matches of a row (held.cuh). A mask decides by position; by their bits all elements
 * match then. */
template <typename Element, typename Map> struct of_matches : Map {
    static const bool FILTERS = true;
    matcher<Element, true> predicate;
    int64_t begin; /* the row's first element in the input, and in masks */

    static TOPK_MEMBER of_matches of_row(const Map &map, const struct predicate_args &p,
                                         const struct row &r) {
        matcher<Element, true> predicate = matcher<Element, true>::of(p);
        predicate.span = predicate.mask != nullptr ? ~(key_word_t<Element>)0 : predicate.span;
        return of_matches{map, predicate, r.begin};
    }
    /* The thread's items that are elements of the row, without those that a mask leaves out. The branch comes
     * once for all of them, so that their loads are in flight together. */
    template <uint32_t ITEMS, uint32_t WARPS, typename Word>
    TOPK_MEMBER uint32_t allowed(const held_row<Element, ITEMS, WARPS, Word> &held) const {
        const uint32_t filled = predicate.none ? 0 : held.filled();
        const int64_t first = begin - held.left + held.index(0); /* of the thread */
        if (predicate.mask == nullptr)
            return filled;
        if (predicate.mask_has_bits)
            return only<ITEMS>(filled, [&](uint32_t item) TOPK_LAMBDA {
                return predicate.bit_of_mask(first + (held.index(item) - held.index(0)));
            });
        return only<ITEMS>(filled, [&](uint32_t item) TOPK_LAMBDA {
            return predicate.byte_of_mask(first + (held.index(item) - held.index(0)));
        });
    }
    TOPK_MEMBER bool takes(key_word_t<Element> bits) const {
        return predicate.in_arc(bits);
    }

  private:
    /* The bits of `items` for which is_in(item). */
    template <uint32_t ITEMS, typename Test>
    static TOPK_MEMBER uint32_t only(uint32_t items, const Test &is_in) {
        uint32_t found = 0;
#pragma unroll
        for (uint32_t item = 0; item < ITEMS; item++)
            found |= (items >> item & 1) != 0 && is_in(item) ? 1u << item : 0;
        return found;
    }
};

#endif
