/* SPDX-License-Identifier: Apache-2.0
 * What a call of rtopk launches. It needs no workspace. */
#include "../methods.h"

#include "../leaf.h"
#include "kernels.h"

static const struct rtopk_kernels *const kernels[WIDTHS] = {
    &topk_cuda_rtopk_kernels_8, &topk_cuda_rtopk_kernels_16, &topk_cuda_rtopk_kernels_32,
    &topk_cuda_rtopk_kernels_64};

static const int64_t items_of_class[RTOPK_CLASSES] = {RTOPK_ITEMS_0, RTOPK_ITEMS_1, RTOPK_ITEMS_2,
                                                      RTOPK_ITEMS_3};

/* The first class whose lanes hold the longest row. */
static uint32_t row_class_of(const struct plan *plan) {
    uint32_t row_class = 0;
    while (32 * items_of_class[row_class] < plan->problem.length_max) {
        row_class++;
    }
    return row_class;
}

/* Results of a row at most. */
static int64_t results_max(const struct plan *plan) {
    return least(plan->problem.k_max, plan->problem.length_max);
}

static bool is_sorted(const struct plan *plan) {
    return plan->operation == TOPK_OPERATION_SELECT && plan->problem.order == TOPK_ORDER_BEST_FIRST;
}

/* Entries that a warp sorts in shared memory, a power of two: 0 if registers hold them. */
static uint32_t entries_of(const struct plan *plan) {
    uint32_t entries = RTOPK_FEW;
    if (!is_sorted(plan) || results_max(plan) <= RTOPK_FEW) {
        return 0;
    }
    while (entries < results_max(plan)) {
        entries *= 2;
    }
    return entries;
}

static const char *refuse(const topk_context *context, const struct plan *plan) {
    (void)context;
    return plan->problem.length_max > RTOPK_ROW_MAX ? "rows are longer than a warp's registers hold" : NULL;
}

/* A model, not a fit: a launch; bytes that are read and written in a microsecond; instructions that all warps
 * together issue in one, and what a row takes of them. */
static const double LAUNCH_US = 3, BYTES_PER_US = 4.2e6, INSTRUCTIONS_PER_US = 0.6e6;

static double cost_us(const topk_context *context, const struct plan *plan) {
    const double rows = (double)plan->problem.rows, entries = entries_of(plan);
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes +
                         (double)plan->output_elements * (double)(plan->element_bytes + plan->index_bytes);
    const double instructions = 300 + 25 * (double)items_of_class[row_class_of(plan)] + 12 * entries;
    const double issue_us = rows * instructions / INSTRUCTIONS_PER_US, move_us = bytes / BYTES_PER_US;
    (void)context;
    return LAUNCH_US + (issue_us > move_us ? issue_us : move_us);
}

static size_t workspace_bytes(const topk_context *context, const struct plan *plan) {
    (void)context;
    (void)plan;
    return 0;
}

static int run(const struct call *call) {
    const struct plan *plan = call->plan;
    const bool is_kth = plan->operation == TOPK_OPERATION_KTH;
    const int64_t rows = plan->problem.rows, warps = RTOPK_THREADS / 32;
    const struct launch_grid grid = {.blocks = (uint32_t)least(divide_up(rows, warps), RTOPK_GRID_BLOCKS),
                                     .rows = 1,
                                     .threads = RTOPK_THREADS,
                                     .stream = call->stream};
    const struct rtopk_args args = {.rows = row_args_of(call),
                                    .decode = topk_decode_args(&plan->order),
                                    .kth = kth_outputs_of(call),
                                    .is_kth = is_kth,
                                    .is_sorted = is_sorted(plan),
                                    .slots = (uint32_t)greatest(is_kth ? 0 : results_max(plan), RTOPK_FEW),
                                    .entries = entries_of(plan)};
    if (rows == 0 || (!is_kth && plan->problem.k_max == 0)) {
        return 0;
    }
    return kernels[width_of(plan)]->row(&grid, &args, row_class_of(plan));
}

static int prepare(const topk_context *context) {
    int error = 0;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare();
    }
    (void)context;
    return error;
}

const struct method topk_cuda_rtopk = {.name = "rtopk",
                                       .operations = SELECTS,
                                       .refuse = refuse,
                                       .cost_us = cost_us,
                                       .workspace_bytes = workspace_bytes,
                                       .prepare = prepare,
                                       .run = run};
