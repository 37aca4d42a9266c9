/* SPDX-License-Identifier: Apache-2.0
 * What an approximate selection launches. */
#include "approximate.h"

#include "../leaf.h"

static const struct approximate_kernels *const kernels[WIDTHS] = {
    &topk_cuda_rtopk_approximate_8, &topk_cuda_rtopk_approximate_16, &topk_cuda_rtopk_approximate_32,
    &topk_cuda_rtopk_approximate_64};

/* How a row is held. */
static const struct row_class {
    uint32_t items; /* elements of a thread */
    uint32_t warps; /* of the team */
} classes[RTOPK_APPROXIMATE_CLASSES] = {{RTOPK_ITEMS_1, 1},
                                        {RTOPK_ITEMS_2, 1},
                                        {RTOPK_ITEMS_3, 1},
                                        {RTOPK_BLOCK_ITEMS, RTOPK_BLOCK_WARPS_0},
                                        {RTOPK_BLOCK_ITEMS, RTOPK_BLOCK_WARPS_1},
                                        {RTOPK_BLOCK_ITEMS, RTOPK_BLOCK_WARPS_2},
                                        {RTOPK_BLOCK_ITEMS, RTOPK_BLOCK_WARPS_3},
                                        {RTOPK_BLOCK_ITEMS_4, RTOPK_BLOCK_WARPS_4}};

static uint32_t held_by(const struct row_class *c) {
    return 32 * c->items * c->warps;
}

/* The first class that holds the longest row. */
static uint32_t class_of(const struct plan *plan) {
    uint32_t index = 0;
    while (held_by(&classes[index]) < plan->problem.length_max) {
        index++;
    }
    return index;
}

double topk_cuda_rtopk_approximate_instructions(const struct plan *plan) {
    const struct row_class c = classes[class_of(plan)];
    return c.warps * (200 + 20.0 * c.items);
}

/* Where rows are many a team takes several of them, one after another: that spares what a block does once. */
static int64_t blocks_for(const struct call *call, int64_t teams) {
    const int64_t rows = call->plan->problem.rows;
    const int64_t several = rows / (teams * device_of(call->context)->sms * RTOPK_BLOCKS_OF_SM);
    return divide_up(rows, teams * greatest(1, least(several, RTOPK_ROWS_OF_TEAM)));
}

int topk_cuda_rtopk_run_approximate(const struct call *call, const struct rtopk_args *of_row,
                                    const struct predicate_args *predicate) {
    const struct plan *plan = call->plan;
    const topk_problem *p = &plan->problem;
    const uint32_t index = class_of(plan),
                   threads = classes[index].warps == 1 ? RTOPK_THREADS : 32 * classes[index].warps;
    const int64_t teams = threads / (32 * classes[index].warps);
    const struct launch_grid grid = grid_of(call, blocks_for(call, teams), RTOPK_GRID_BLOCKS, threads);
    struct approximate_args args = {.of_row = *of_row,
                                    .predicate = *predicate,
                                    .numbers = topk_cuda_number_map(&plan->order),
                                    .max_iterations = (uint32_t)least(p->max_iterations, UINT32_MAX),
                                    .epsilon = p->epsilon,
                                    .epsilon_relative = p->epsilon_relative};
    args.of_row.slots = approximate_slots(held_by(&classes[index]));
    if (args.of_row.entries > RTOPK_ROW_MAX) {
        args.of_row.entries = 0; /* the list of positions is sorted */
    }
    return kernels[width_of(plan)]->row(&grid, &args, index);
}

int topk_cuda_rtopk_prepare_approximate(void) {
    int error = 0;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare();
    }
    return error;
}
