/* SPDX-License-Identifier: Apache-2.0
 * Selections from the candidates of an accumulator. */
#include "accumulator.h"

topk_status topk_accumulator_choose(struct accumulator *a, topk_operation operation,
                                    const topk_problem *problem, int64_t length, int64_t pitch,
                                    struct subcall *inner) {
    topk_problem p = *problem;
    p.length_max = length;
    p.row_stride = pitch;
    p.index_type = p.extent_type = TOPK_INDEX_I64;
    p.index_base = 0;
    p.order = TOPK_ORDER_BEST_FIRST;
    p.ties = TOPK_TIES_LOWEST_INDEX;
    p.method = p.tuning = NULL;
    return topk_subcall_choose(a->context, operation, &p, &a->room, inner);
}

topk_problem topk_accumulator_positions(const struct accumulator *a, int64_t k) {
    topk_problem positions = a->plan.problem;
    positions.type = TOPK_I64;
    positions.direction = TOPK_SMALLEST;
    positions.rank = TOPK_BY_VALUE;
    positions.k_max = k;
    return positions;
}
