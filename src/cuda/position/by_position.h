/* SPDX-License-Identifier: Apache-2.0
 * Results by position, of methods that have no way of their own to write them so.
 *
 * The method selects in any order and writes indices alone, without payload: positions, -1 behind the last.
 * As unsigned numbers these ascend to the padding, so the method sort puts them in order as it does elements.
 * A kernel then fetches the elements, or the payload, at these positions. */
#ifndef TOPK_SRC_CUDA_POSITION_BY_POSITION_H
#define TOPK_SRC_CUDA_POSITION_BY_POSITION_H

#include "../../method.h"

/* Whether the plan asks for results by position. */
static inline bool wants_positions(const struct plan *plan) {
    return plan->problem.order == TOPK_ORDER_BY_POSITION;
}

/* As plan() of `method`, for a plan that asks for results by position. The decision tells what runs, too. */
void topk_cuda_plan_by_position(const topk_context *context, const struct plan *plan,
                                const struct method *method, struct room *room, struct decision *decision);

/* As struct method, prepare. */
int topk_cuda_prepare_by_position(const topk_context *context);

#endif
