/* SPDX-License-Identifier: Apache-2.0
 * Selection that reads the rows in each pass: the passes of air without its buffer. */
#ifndef TOPK_SRC_CUDA_SELECT_IN_PLACE_H
#define TOPK_SRC_CUDA_SELECT_IN_PLACE_H

#include <float.h>

#include "../methods.h"
#include "plan.h"

/* As plan() of air, with digits of `bits` bits. `by_extent`: each pass cuts the range of codes of a row into
 * parts of equal width, from the row's least code to its greatest. Leaves cost_us to the caller. */
void topk_cuda_plan_in_place(const topk_context *context, const struct plan *plan, int64_t digit_bits,
                             bool by_extent, struct room *room, struct decision *decision);

/* What it takes if `passes` passes read the rows. */
static inline double in_place_us(const topk_context *context, const struct plan *plan, int64_t passes) {
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes;
    const double chosen =
        (double)plan->problem.rows * (double)least(plan->problem.k_max, plan->problem.length_max);
    const double read_us =
        fmax(1.05 * move_us(context, bytes, topk_cuda_costs.air.bytes_per_us),
             work_us(context, (double)plan->input_elements, topk_cuda_costs.air.counted_per_us));
    /* Many elements of one byte tie, and then the last read takes twice as long. */
    const int64_t reads = passes + (plan->element_bytes == 1 ? 1 : 0);
    return (double)passes * topk_cuda_costs.air.pass_us + (double)reads * read_us +
           work_us(context, chosen, topk_cuda_costs.air.chosen_per_us) +
           listing_us(context, plan, radix_target_of(plan)) +
           sorting_us(context, plan, radix_target_of(plan));
}

/* The same for digits of `bits` bits, or DBL_MAX: each row has a bin for each value of a digit, and entries.
 */
static inline double in_place_least_us(const topk_context *context, const struct plan *plan, int64_t bits,
                                       int64_t passes) {
    const int64_t pitch =
        radix_target_of(plan) == TARGET_ENTRIES ? plan->problem.k_max + SELECT_TIES_KEPT : 0;
    const size_t row_bytes = sizeof(uint64_t) * (((size_t)1 << bits) + (size_t)pitch);
    return size_product((size_t)plan->problem.rows, row_bytes) > plan_workspace_bound(plan)
               ? DBL_MAX
               : in_place_us(context, plan, passes);
}

#endif
