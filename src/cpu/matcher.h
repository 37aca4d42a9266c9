/* SPDX-License-Identifier: Apache-2.0
 * The predicate of a call, ready to be evaluated: over stretches of elements, or one by one. */
#ifndef TOPK_SRC_CPU_MATCHER_H
#define TOPK_SRC_CPU_MATCHER_H

#include "../method.h"
#include "kernels/kernels.h"

/* An element matches by its bit of a bit mask; or by a point: its own, or its byte's in a byte mask. */
struct matcher {
    bool masked;               /* by a mask, which is memory of its own */
    const unsigned char *bits; /* NULL: by what follows */
    const char *compared;
    size_t compared_bytes; /* of one */
    const struct kernels *kernels;
    struct point_map point_map;
    struct match match;
    bool by_row; /* `match` is another one in each row */
};

/* Reads the bounds that the predicate points to. */
struct matcher topk_cpu_matcher_of(const struct call *call);

/* What matches in a row, of a matcher by row. */
struct match topk_cpu_row_match(const struct call *call, int64_t row);

/* The matcher of a row: `matcher`, or *own where it goes by row. */
static inline const struct matcher *topk_cpu_matcher_at(const struct call *call,
                                                        const struct matcher *matcher, int64_t row,
                                                        struct matcher *own) {
    if (matcher == NULL || !matcher->by_row) {
        return matcher;
    }
    *own = *matcher;
    own->match = topk_cpu_row_match(call, row);
    return own;
}

/* The same, in *matcher, for an operation that takes a predicate; else NULL. */
static inline const struct matcher *topk_cpu_matcher_if_any(const struct call *call,
                                                            struct matcher *matcher) {
    if (call->predicate == NULL) {
        return NULL;
    }
    *matcher = topk_cpu_matcher_of(call);
    return matcher;
}

/* Mask of the n elements from element `first` of values on, with a 1 for each match; returns how many match.
 */
size_t topk_cpu_matcher_mask(const struct matcher *matcher, size_t first, size_t n, uint64_t *mask);

/* Prefetches what decides whether an element matches. */
static inline void topk_cpu_matcher_prefetch(const struct matcher *matcher, size_t element) {
    if (matcher->bits != NULL) {
        __builtin_prefetch(matcher->bits + element / 8);
    } else {
        __builtin_prefetch(matcher->compared + element * matcher->compared_bytes);
    }
}

/* Whether one element of values matches. */
bool topk_cpu_matcher_matches(const struct matcher *matcher, size_t element);

#endif
