/* SPDX-License-Identifier: Apache-2.0
 * Predicates, reduced to arcs of points. */
#ifndef TOPK_SRC_PREDICATE_H
#define TOPK_SRC_PREDICATE_H

#include <stddef.h>

#include "keys.h"
#include "topk.h"

struct plan;
struct buffer_list;

/* Ascending by value, NaN behind all numbers. */
static inline struct order predicate_order(topk_type type) {
    return topk_order_of(type, TOPK_LARGEST, TOPK_BY_VALUE, TOPK_NAN_LAST);
}

/* True for the kinds that compare elements with bounds. */
static inline bool predicate_compares(topk_predicate_kind kind) {
    return kind >= TOPK_GT && kind <= TOPK_BETWEEN;
}

/* True for the kinds that take a mask. */
static inline bool predicate_masks(topk_predicate_kind kind) {
    return kind == TOPK_BYTE_MASK || kind == TOPK_BIT_MASK;
}

/* Bytes of a mask with a bit for each element. */
static inline size_t bit_mask_bytes(size_t elements) {
    return elements / 8 + (elements % 8 != 0);
}

/* What meets a comparison with bounds: reads predicate->bounds if it is given. */
struct match topk_predicate_match(const topk_predicate *predicate, topk_type type);

/* What ranks at or above an element, given by its bits: an arc of the order's points. */
struct match topk_at_least_match(const struct order *order, uint64_t element);

/* Whether one element, given by its bits, matches. */
static inline bool topk_point_matches(uint64_t element, unsigned bits, const struct point_map *point_map,
                                      const struct match *match) {
    const uint64_t u = element & point_map->keep, negative = u >> (bits - 1) ? UINT64_MAX : 0;
    const uint64_t point = (u ^ (negative & point_map->flip)) + (negative & point_map->add);
    return ((point - match->arc.begin) & topk_ones(bits)) <= match->arc.span && !match->none;
}

/* Validates the caller's predicate, but for its bounds, and copies it. */
topk_status topk_check_predicate(const topk_predicate *caller, topk_predicate *predicate);

/* UNSUPPORTED for AT_LEAST, which `who` does not take. */
topk_status topk_refuse_at_least(const topk_predicate *predicate, const char *who);

/* Adds the buffers that such a predicate reads, and checks its bounds for elements of the plan's type. */
topk_status topk_list_predicate(const struct plan *plan, const topk_predicate *predicate,
                                struct buffer_list *buffers);

#endif
