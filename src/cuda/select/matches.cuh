/* SPDX-License-Identifier: Apache-2.0
 * A row in registers of which the elements that match take part. */
#ifndef TOPK_SRC_CUDA_SELECT_MATCHES_CUH
#define TOPK_SRC_CUDA_SELECT_MATCHES_CUH

#include "../predicate/matcher.cuh"
#include "held.cuh"

/* Another map, for the matches of a row (held.cuh). */
template <typename Element, typename Map> struct of_matches : Map {
    static const bool FILTERS = true;
    matcher<Element, true> predicate;
    int64_t begin; /* the row's first element in the input, and in masks */

    static TOPK_MEMBER of_matches of_row(const Map &map, const struct predicate_args &p,
                                         const struct row &r) {
        return of_matches{map, matcher<Element, true>::of(p), r.begin};
    }
    TOPK_MEMBER bool takes(key_word_t<Element> bits, uint32_t position) const {
        if (predicate.mask != nullptr)
            return predicate.is_masked_in(begin + position);
        return !predicate.none && predicate.in_arc(bits);
    }
};

#endif
