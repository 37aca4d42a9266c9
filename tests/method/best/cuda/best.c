/* SPDX-License-Identifier: Apache-2.0
 * A method that finds the best element of each row: the smallest one that is right, for add.py. */
#include "../leaf.h"
#include "../methods.h"
#include "kernels.h"

static const struct best_kernels *const kernels[WIDTHS] = {
    &topk_cuda_best_kernels_8, &topk_cuda_best_kernels_16, &topk_cuda_best_kernels_32,
    &topk_cuda_best_kernels_64};

struct own {
    uint32_t blocks;
};

static void plan_best(const topk_context *context, const struct plan *plan, struct room *room,
                      struct decision *decision) {
    struct own *own = topk_room_take(room, sizeof *own);
    own->blocks = (uint32_t)least(divide_up(plan->problem.rows, 32), device_of(context)->sms);
    decision->own = own;
    decision->cannot = plan->problem.k_max > 1 ? "k_max is above 1" : NULL;
    decision->launches = 1;
    decision->cost_us = topk_cuda_costs.launch_us +
                        work_us(context, (double)plan->input_elements, topk_cuda_costs.best.elements_per_us);
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
    const struct own *own = call->decision->own;
    const struct row_args args = row_args_of(call);
    const struct launch_grid grid = {.blocks = own->blocks, .rows = 1, .threads = 32, .stream = call->stream};
    return kernels[width_of(call->plan)]->select(&grid, &args);
}

const struct method topk_cuda_best = {.name = "best",
                                      .operations = OPERATION_BIT(TOPK_OPERATION_SELECT),
                                      .plan = plan_best,
                                      .prepare = prepare,
                                      .run = run};
