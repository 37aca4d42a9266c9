/* SPDX-License-Identifier: Apache-2.0
 * Problems whose rows are all alike. */
#ifndef TOPK_SRC_CUDA_RTOPK_UNIFORM_H
#define TOPK_SRC_CUDA_RTOPK_UNIFORM_H

#include "../leaf.h"
#include "kernels.h"

/* Results of a row at most. */
static inline int64_t results_max(const struct plan *plan) {
    return least(plan->problem.k_max, plan->problem.length_max);
}

static inline bool is_sorted(const struct plan *plan) {
    return plan->operation != TOPK_OPERATION_KTH && plan->problem.order == TOPK_ORDER_BEST_FIRST;
}

/* Elements that a group of 16 bytes has. */
static inline int64_t group_elements(const struct plan *plan) {
    return 16 / (int64_t)plan->element_bytes;
}

/* Whether all rows are alike and have results, unless the device has lengths or k of its own. Signed integers
 * by magnitude have no leads. */
bool topk_cuda_rtopk_may_be_uniform(const struct plan *plan);
/* Whether they are. */
bool topk_cuda_rtopk_is_uniform(const struct call *call);
/* Whether rows begin at multiples of 16 bytes and consist of whole groups. */
bool topk_cuda_rtopk_is_whole(const struct call *call);
/* What all kernels for such rows are told. */
struct uniform_rows topk_cuda_rtopk_uniform_rows(const struct call *call, const struct code_map *map);

#endif
