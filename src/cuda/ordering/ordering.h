/* SPDX-License-Identifier: Apache-2.0
 * Results put in order after a selection in any order, for methods that do not do it themselves.
 *
 * The method selects in any order and writes a list of elements and positions. A cluster sorts
 * each list on chip, best first or by position (cluster.cuh). Longer lists go by position only: the method
 * sort puts the positions in order as it does elements, and a kernel fetches the elements there. */
#ifndef TOPK_SRC_CUDA_ORDERING_ORDERING_H
#define TOPK_SRC_CUDA_ORDERING_ORDERING_H

#include "../../method.h"

/* Whether the plan asks for results by position. */
static inline bool wants_positions(const struct plan *plan) {
    return plan->problem.order == TOPK_ORDER_BY_POSITION;
}

/* Whether the plan's results can be put in order after a selection in any order. */
bool topk_cuda_can_order(const topk_context *context, const struct plan *plan);

/* Likewise best first, if a row has more results than the method puts in order itself. */
bool topk_cuda_orders_beyond(const topk_context *context, const struct plan *plan, int64_t sorted_max);

/* What that takes beyond the selection, at least. */
double topk_cuda_ordering_least_us(const topk_context *context);

/* As plan() of `method`, for a plan whose results can be put in order; the decision names what runs. */
void topk_cuda_plan_ordered(const topk_context *context, const struct plan *plan, const struct method *method,
                            struct room *room, struct decision *decision);

/* As struct method, prepare. */
int topk_cuda_prepare_ordering(const topk_context *context);

#endif
