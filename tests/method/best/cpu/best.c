/* SPDX-License-Identifier: Apache-2.0
 * A method that finds the best element of each row: the smallest one that is right, for add.py. */
#include "../methods.h"
#include "../output.h"

static void plan_best(const topk_context *context, const struct plan *plan, struct room *room,
                      struct decision *decision) {
    (void)context, (void)room;
    decision->cannot = plan->problem.k_max > 1 ? "k_max is above 1" : NULL;
    decision->cost_us = 1e-3 * (double)plan->input_elements;
}

static uint64_t key_at(const struct call *call, int64_t element) {
    const struct plan *plan = call->plan;
    const uint64_t bits = read_element(call->input.values, element, plan->element_bytes);
    return topk_key_encode(bits, plan->element_bits, &plan->map);
}

static int run(const struct call *call) {
    for (int64_t row = 0; row < call->plan->problem.rows; row++) {
        const struct row_extent extent = plan_row(call->plan, &call->input, row);
        const bool any = extent.length > 0 && plan_row_k(call->plan, &call->input, row) > 0;
        int64_t best = 0;
        for (int64_t i = 1; i < extent.length; i++) {
            best = key_at(call, extent.begin + i) > key_at(call, extent.begin + best) ? i : best;
        }
        if (any) {
            topk_cpu_write_result(call, row, extent.begin, best);
        }
        topk_cpu_write_padding(call, row, any);
    }
    return TOPK_OK;
}

const struct method topk_cpu_best = {
    .name = "best", .operations = OPERATION_BIT(TOPK_OPERATION_SELECT), .plan = plan_best, .run = run};
