/* SPDX-License-Identifier: Apache-2.0
 * Predicates of topk_where, reduced to arcs of places. */
#ifndef TOPK_SRC_PREDICATE_H
#define TOPK_SRC_PREDICATE_H

#include "keys.h"
#include "topk.h"

/* The elements whose places (keys.h) lie in an arc, or, complemented, outside of it. Places are those of
 * predicate_order(), so that NaN, which meets no comparison but NE, is in no arc of numbers. */
struct match {
    struct arc arc;
    bool complement;
};

/* Ascending by value, NaN behind all numbers. */
static inline struct order predicate_order(topk_type type) {
    return (struct order){type, TOPK_LARGEST, TOPK_BY_VALUE, TOPK_NAN_LAST};
}

/* True for the kinds that compare elements with bounds. */
static inline bool predicate_compares(topk_predicate_kind kind) {
    return kind >= TOPK_GT && kind <= TOPK_BETWEEN;
}

/* What meets a comparison: reads predicate->bounds if it is given. */
struct match topk_predicate_match(const topk_predicate *predicate, topk_type type);

/* Validates the caller's predicate and copies it. */
topk_status topk_check_predicate(const topk_predicate *caller, topk_predicate *predicate);

#endif
