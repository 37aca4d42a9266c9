/* SPDX-License-Identifier: Apache-2.0
 * Selection that reads the rows in each pass: the passes of air without its buffer. */
#ifndef TOPK_SRC_CUDA_SELECT_IN_PLACE_H
#define TOPK_SRC_CUDA_SELECT_IN_PLACE_H

#include "../../subcall.h"
#include "../methods.h"
#include "plan.h"

/* The same problem, by air with no room for candidates. */
static inline struct subcall in_place_passes(const topk_context *context, const struct plan *plan,
                                             int64_t digit_bits, bool by_extent) {
    static const char names[] = "digit_bits alpha";
    struct subcall passes;
    topk_subcall_same(context, plan, &topk_cuda_air, NULL, &passes);
    passes.plan.tuning.count = 2;
    passes.plan.tuning.settings[0] = (struct setting){names, 10, digit_bits};
    passes.plan.tuning.settings[1] = (struct setting){names + 11, 5, INT64_MAX};
    passes.plan.by_extent = by_extent;
    passes.decision.workspace_bytes = topk_cuda_air.workspace_bytes(context, &passes.plan);
    return passes;
}

/* Runs the passes over the whole of a call's workspace. */
static inline int run_in_place(const struct call *call, struct subcall *passes) {
    passes->workspace = call->workspace;
    const struct call inner = topk_subcall_call(passes, call);
    return passes->method->run(&inner);
}

/* What it takes if so many passes read the rows. */
static inline double in_place_us(const topk_context *context, const struct plan *plan, int64_t passes) {
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes;
    const double chosen =
        (double)plan->problem.rows * (double)least(plan->problem.k_max, plan->problem.length_max);
    return (double)passes * (topk_cuda_costs.air.pass_us +
                             1.05 * move_us(context, bytes, topk_cuda_costs.air.bytes_per_us)) +
           work_us(context, chosen, topk_cuda_costs.air.chosen_per_us) +
           sorting_us(context, plan, radix_target_of(plan));
}

#endif
