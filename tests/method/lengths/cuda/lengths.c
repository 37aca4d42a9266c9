/* SPDX-License-Identifier: Apache-2.0
 * An operation that tells how long each row is: the smallest one that is right, for add.py. */
#include "../leaf.h"
#include "../methods.h"
#include "kernels.h"

struct own {
    uint32_t blocks;
};

static void plan_lengths(const topk_context *context, const struct plan *plan, struct room *room,
                         struct decision *decision) {
    struct own *own = topk_room_take(room, sizeof *own);
    own->blocks = (uint32_t)least(divide_up(plan->problem.rows, 32), device_of(context)->sms);
    decision->own = own;
    decision->launches = 1;
    decision->cost_us = 3;
}

static int prepare(const topk_context *context) {
    (void)context;
    return topk_cuda_lengths_kernels_8.prepare();
}

/* Elements of all widths are counted alike. */
static int run(const struct call *call) {
    const struct own *own = call->decision->own;
    const struct lengths_args args = {row_args_of(call), call->counts};
    const struct launch_grid grid = {.blocks = own->blocks, .rows = 1, .threads = 32, .stream = call->stream};
    return topk_cuda_lengths_kernels_8.lengths(&grid, &args);
}

const struct method topk_cuda_lengths = {.name = "lengths",
                                         .operations = OPERATION_BIT(TOPK_OPERATION_LENGTHS),
                                         .plan = plan_lengths,
                                         .prepare = prepare,
                                         .run = run};
