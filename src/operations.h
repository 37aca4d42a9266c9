/* SPDX-License-Identifier: Apache-2.0
 * What an operation is: a row of a table. */
#ifndef TOPK_SRC_OPERATIONS_H
#define TOPK_SRC_OPERATIONS_H

#include <stdbool.h>

#include "topk.h"

struct operation {
    const char *name;
    unsigned outputs;   /* set of TOPK_OUTPUT_*: all that it can write */
    unsigned required;  /* outputs that may not be NULL unless they are empty */
    bool ranks;         /* elements rank in it */
    bool has_slots;     /* its outputs have k_max slots for each row */
    bool is_kth;        /* it finds the k-th element */
    bool has_predicate; /* it takes one, and needs it */
    bool has_routing;   /* likewise */
    bool has_lists;     /* likewise */
    bool has_groups;    /* its rows are groups, which elements name */
    /* What else a problem must be that is valid otherwise; NULL: nothing. */
    topk_status (*check)(const topk_problem *problem);
};

enum { OPERATION_FIRST = TOPK_OPERATION_SELECT, OPERATION_LAST = TOPK_OPERATION_SELECT_BY };

/* By topk_operation. */
extern const struct operation topk_operations[OPERATION_LAST + 1];

/* Operations in which elements rank, and those that select the k best of them. */
static inline bool operation_ranks(topk_operation operation) {
    return topk_operations[operation].ranks;
}

static inline bool operation_selects(topk_operation operation) {
    return topk_operations[operation].has_slots && !topk_operations[operation].has_routing &&
           !topk_operations[operation].has_lists && !topk_operations[operation].has_groups;
}

/* Operations that find the k-th element: of all, or of those that meet a predicate. */
static inline bool operation_is_kth(topk_operation operation) {
    return topk_operations[operation].is_kth;
}

/* Operations in which elements rank that meet a predicate. */
static inline bool operation_filters(topk_operation operation) {
    return topk_operations[operation].ranks && topk_operations[operation].has_predicate;
}

/* Operations whose results have one of the orders of topk_order. */
static inline bool operation_orders(topk_operation operation) {
    return operation_selects(operation) || topk_operations[operation].has_lists ||
           topk_operations[operation].has_groups;
}

#endif
