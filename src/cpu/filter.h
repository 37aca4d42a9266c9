/* SPDX-License-Identifier: Apache-2.0
 * The predicate of a call, ready to be evaluated: over stretches of elements, or one by one. */
#ifndef TOPK_SRC_CPU_FILTER_H
#define TOPK_SRC_CPU_FILTER_H

#include "../method.h"
#include "kernels/kernels.h"

/* Elements match by a bit each; or by the place of what is compared, which is the element itself or its
 * byte in a byte mask. */
struct filter {
    bool masked;               /* by a mask, which is memory of its own */
    const unsigned char *bits; /* NULL: by what follows */
    const char *compared;
    size_t compared_bytes; /* of one */
    const struct kernels *kernels;
    struct point_map point_map;
    struct match match;
};

/* Reads the bounds that the predicate points to. */
struct filter topk_filter_of(const struct call *call);

/* The same, in *filter, for an operation that takes a predicate; else NULL. */
static inline const struct filter *topk_filter_if_any(const struct call *call, struct filter *filter) {
    if (call->predicate == NULL) {
        return NULL;
    }
    *filter = topk_filter_of(call);
    return filter;
}

/* Mask of the n elements from element `first` of values on, of which those that match have a 1; returns
 * their number. */
size_t topk_filter_mask(const struct filter *filter, size_t first, size_t n, uint64_t *mask);

/* Fetches what tells whether an element matches. */
static inline void topk_filter_prefetch(const struct filter *filter, size_t element) {
    if (filter->bits != NULL) {
        __builtin_prefetch(filter->bits + element / 8);
    } else {
        __builtin_prefetch(filter->compared + element * filter->compared_bytes);
    }
}

/* Whether one element of values matches. */
bool topk_filter_matches(const struct filter *filter, size_t element);

#endif
