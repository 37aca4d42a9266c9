/* SPDX-License-Identifier: Apache-2.0 */
#include "operations.h"

#include "lists.h"
#include "routing.h"

const struct operation topk_operations[OPERATION_LAST + 1] = {
    [TOPK_OPERATION_SELECT] = {.name = "select",
                               .outputs = TOPK_OUTPUT_VALUES | TOPK_OUTPUT_INDICES,
                               .ranks = true,
                               .has_slots = true},
    [TOPK_OPERATION_KTH] = {.name = "kth",
                            .outputs = TOPK_OUTPUT_VALUES | TOPK_OUTPUT_BETTER | TOPK_OUTPUT_EQUAL,
                            .ranks = true},
    [TOPK_OPERATION_WHERE] = {.name = "where",
                              .outputs = TOPK_OUTPUT_VALUES | TOPK_OUTPUT_INDICES | TOPK_OUTPUT_OFFSETS,
                              .has_predicate = true},
    [TOPK_OPERATION_SELECT_WHERE] = {.name = "select_where",
                                     .outputs = TOPK_OUTPUT_VALUES | TOPK_OUTPUT_INDICES,
                                     .ranks = true,
                                     .has_slots = true,
                                     .has_predicate = true},
    [TOPK_OPERATION_COUNT] = {.name = "count",
                              .outputs = TOPK_OUTPUT_COUNTS,
                              .required = TOPK_OUTPUT_COUNTS,
                              .has_predicate = true},
    [TOPK_OPERATION_MASK] = {.name = "mask",
                             .outputs = TOPK_OUTPUT_MASK,
                             .required = TOPK_OUTPUT_MASK,
                             .has_predicate = true},
    [TOPK_OPERATION_ROUTE] = {.name = "route",
                              .outputs = TOPK_OUTPUT_INDICES | TOPK_OUTPUT_WEIGHTS,
                              .ranks = true,
                              .has_slots = true,
                              .has_routing = true,
                              .check = topk_check_route},
    [TOPK_OPERATION_MERGE] = {.name = "merge",
                              .outputs = TOPK_OUTPUT_VALUES | TOPK_OUTPUT_INDICES | TOPK_OUTPUT_PAYLOAD,
                              .ranks = true,
                              .has_slots = true,
                              .has_lists = true,
                              .check = topk_check_merge},
};
