/* SPDX-License-Identifier: Apache-2.0
 * What an approximate selection launches. */
#include "approximate.h"

#include "../leaf.h"
#include "network.h"

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

static const int64_t items_of_parts[RTOPK_APPROXIMATE_PARTS] = {RTOPK_PART_ITEMS_0, RTOPK_PART_ITEMS_1};

/* How lanes share rows: 1 << shift have one, with items_of_parts[index] elements each. */
struct parts {
    uint32_t index, shift;
};

/* At least as many lanes as a word of hits has groups. */
static uint32_t parts_shift(int64_t items, int64_t length) {
    const int64_t groups = least(items, 32) / (16 / (int64_t)sizeof(float));
    uint32_t shift = 0;
    while (1 << shift < groups || items << shift < length) {
        shift++;
    }
    return shift;
}

/* Fewest lanes for a row, unless that leaves most of the GPU idle, or a lane with too many results to list
 * one after another. Whether parts of a warp serve the rows. */
static bool choose_parts(const struct call *call, const struct predicate_args *predicate,
                         struct parts *parts) {
    const struct plan *plan = call->plan;
    const int64_t length = plan->problem.length_max, busy = RTOPK_PART_WARPS * device_of(call->context)->sms;
    parts->shift = UINT32_MAX;
    if (plan->element_bytes != sizeof(float) || length > RTOPK_UNIFORM_ROW_MAX || predicate->is_given ||
        plan->problem.k_max > length || plan->problem.max_iterations < 1 ||
        plan->problem.max_iterations > RTOPK_PART_STEPS || !topk_cuda_rtopk_shares_warps(plan) ||
        !topk_cuda_rtopk_is_uniform(call) || !topk_cuda_rtopk_is_whole(call)) {
        return false;
    }
    for (uint32_t i = 0; i < RTOPK_APPROXIMATE_PARTS; i++) {
        const uint32_t shift = parts_shift(items_of_parts[i], length);
        const bool is_better = plan->problem.rows >> (5 - least(shift, 5)) >= busy &&
                               results_max(plan) <= RTOPK_PART_RESULTS << shift;
        if (shift <= 5 && (32 >> shift) * results_max(plan) <= RTOPK_NETWORK_RESULTS &&
            (results_max(plan) <= RTOPK_PART_MOST << shift || !is_sorted(plan)) &&
            (parts->shift > 5 || (shift < parts->shift && is_better))) {
            *parts = (struct parts){i, shift};
        }
    }
    return parts->shift <= 5;
}

/* Fills in what such rows need besides. Returns false if their results cannot be put in order. */
static bool set_parts(const struct call *call, const struct parts *parts, struct approximate_args *of_parts) {
    struct rtopk_args *args = &of_parts->of_row;
    const topk_problem *p = &call->plan->problem;
    const int64_t items = items_of_parts[parts->index], rows_of_warp = 32 >> parts->shift;
    const int64_t warps_of_sm = RTOPK_APPROXIMATE_PART_BLOCKS(items) * (RTOPK_THREADS / 32);
    struct uniform_rows *u = &args->uniform;
    *u = topk_cuda_rtopk_uniform_rows(call, &args->rows.map);
    u->part_shift = parts->shift;
    u->reciprocal = (1u << RTOPK_RECIPROCAL_BITS) / u->k + 1;
    u->ahead = p->row_stride == p->length_max
                   ? (uint32_t)(device_of(call->context)->sms * warps_of_sm / 2 * rows_of_warp)
                   : 0;
    args->slots = (uint32_t)rows_of_warp * u->k;
    args->entries = 0;
    of_parts->lists_numbers = !is_sorted(call->plan) && results_max(call->plan) > RTOPK_PART_RESULTS
                                                                                      << parts->shift;
    return topk_cuda_rtopk_set_order(call->plan, RTOPK_ORDER_FEW, args);
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
    struct parts parts;
    if (choose_parts(call, predicate, &parts)) {
        struct approximate_args of_parts = args;
        const int64_t rows_of_block = (32 >> parts.shift) * (RTOPK_THREADS / 32);
        if (set_parts(call, &parts, &of_parts)) {
            const struct launch_grid of_blocks =
                grid_of(call, divide_up(p->rows, rows_of_block), INT32_MAX, RTOPK_THREADS);
            return kernels[width_of(plan)]->parts(&of_blocks, &of_parts, parts.index);
        }
    }
    args.of_row.slots = approximate_slots(held_by(&classes[index]));
    if (args.of_row.entries > RTOPK_RESULTS_MAX) {
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
