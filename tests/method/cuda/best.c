/* SPDX-License-Identifier: Apache-2.0
 * A method that finds the best element of each row: the smallest one that is right, for add.py. */
#include "../leaf.h"
#include "../methods.h"
#include "kernels.h"

static const struct best_kernels *const kernels[WIDTHS] = {
    &topk_cuda_best_kernels_8, &topk_cuda_best_kernels_16, &topk_cuda_best_kernels_32,
    &topk_cuda_best_kernels_64};

static const char *refuse(const topk_context *context, const struct plan *plan) {
    (void)context;
    return plan->problem.k_max > 1 ? "k_max is above 1" : NULL;
}

static double cost_us(const topk_context *context, const struct plan *plan) {
    (void)context;
    return 3 + (double)plan->input_elements;
}

static size_t workspace_bytes(const topk_context *context, const struct plan *plan) {
    (void)context, (void)plan;
    return 0;
}

static int prepare(const topk_context *context) {
    int error = 0;
    (void)context;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare();
    }
    return error;
}

static int run(const struct call *call) {
    const struct row_args args = row_args_of(call);
    const struct launch_grid grid = {
        .blocks = (uint32_t)least(divide_up(args.rows, 32), device_of(call->context)->sms),
        .rows = 1,
        .threads = 32,
        .stream = call->stream};
    return kernels[width_of(call->plan)]->select(&grid, &args);
}

const struct method topk_cuda_best = {.name = "best",
                                      .operations = OPERATION_BIT(TOPK_OPERATION_SELECT),
                                      .refuse = refuse,
                                      .cost_us = cost_us,
                                      .workspace_bytes = workspace_bytes,
                                      .prepare = prepare,
                                      .run = run};
