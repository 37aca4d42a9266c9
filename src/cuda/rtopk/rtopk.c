/* SPDX-License-Identifier: Apache-2.0
 * What a call of rtopk launches. */
#include "../methods.h"

#include <math.h>

#include "approximate.h"
#include "network.h"
#include "uniform.h"
#include "where.h"

static const struct rtopk_kernels *const kernels[WIDTHS] = {
    &topk_cuda_rtopk_kernels_8, &topk_cuda_rtopk_kernels_16, &topk_cuda_rtopk_kernels_32,
    &topk_cuda_rtopk_kernels_64};

static const struct where_kernels *const where_kernels[WIDTHS] = {
    &topk_cuda_rtopk_where_8, &topk_cuda_rtopk_where_16, &topk_cuda_rtopk_where_32,
    &topk_cuda_rtopk_where_64};

static const int64_t items_of_class[RTOPK_CLASSES] = {RTOPK_ITEMS_0, RTOPK_ITEMS_1, RTOPK_ITEMS_2,
                                                      RTOPK_ITEMS_3};

/* The first class whose lanes hold a row of that length. */
static uint32_t row_class_of(int64_t length) {
    uint32_t row_class = 0;
    while (32 * items_of_class[row_class] < length) {
        row_class++;
    }
    return row_class;
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

/* Whether an exact search without a network keeps rows in shared memory: they are too long for registers, or
 * may have such different lengths that most of these would be empty. */
static bool is_uneven(const struct plan *plan) {
    return !has_predicate(plan) &&
           plan->problem.length_max >
               32 * (plan->problem.shape == TOPK_SHAPE_STRIDED ? RTOPK_ITEMS_3 : RTOPK_ITEMS_1);
}

static const char *refuse(const topk_context *context, const struct plan *plan) {
    const int64_t length = plan->problem.length_max;
    (void)context;
    if (plan->approximate) {
        return length > RTOPK_APPROXIMATE_MAX ? "rows are longer than 8192 elements" : NULL;
    }
    if (length > (has_predicate(plan) ? RTOPK_WHERE_ROW_MAX : RTOPK_ROW_MAX)) {
        return "rows are longer than a warp holds";
    }
    if (plan->operation != TOPK_OPERATION_KTH && results_max(plan) > RTOPK_RESULTS_MAX) {
        return "more results are wanted than a warp lists";
    }
    return NULL;
}

/* Elements of a row that a lane deals with, on average. */
static double items_of(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    const double most = (double)p->length_max, all = (double)p->elements_max;
    const double length = p->shape == TOPK_SHAPE_STRIDED ? most : fmin(most, all / fmax(1, (double)p->rows));
    return is_uneven(plan) ? length / 32 + 2 : (double)items_of_class[row_class_of(p->length_max)];
}

/* Whether a row has all lanes of a warp to itself, and more elements than the classes below hold. */
static bool is_wide(const struct plan *plan) {
    return !plan->approximate && plan->problem.length_max > 32 * RTOPK_ITEMS_3;
}

/* Of an exact search without a network. For up to 32 results the lanes' best codes tell a threshold. Codes of
 * 64 bits take two words, and wait for each other while they are counted. */
static double plain_of_warp(const struct plan *plan) {
    const int64_t k = results_max(plan);
    const double items = items_of(plan), few = (double)least(k, 32);
    const double in_memory =
        plan->element_bytes < 8 ? 380 + 6 * few + 27 * items : 500 + 6 * few + 55 * items;
    const double search = is_uneven(plan)           ? in_memory
                          : plan->element_bytes < 8 ? 300 + 25 * items
                          : k < 32                  ? 350 + 43 * items
                                                    : 500 + 75 * items;
    const double of_results = k > 32 ? 2.5 * (double)k + 12 * entries_of(plan) : 0;
    return search + of_results;
}

static double plain_instructions(const topk_context *context, const struct plan *plan) {
    return topk_cuda_rtopk_instructions_of_row(context, plan, plain_of_warp(plan), 1);
}

/* The network that serves an exact search, or what stands for one where none does. */
static struct network search_of(const topk_context *context, const struct plan *plan) {
    const double of_ties = 400; /* which narrow elements have */
    struct network best = {.of_warp = plain_of_warp(plan), .instructions = plain_instructions(context, plan)};
    if (topk_cuda_rtopk_may_be_uniform(plan)) {
        const struct network network = topk_cuda_rtopk_network_of(context, plan);
        best = network.instructions < best.instructions ? network : best;
    }
    best.instructions += is_wide(plan) && plan->element_bytes < 4 ? of_ties : 0;
    return best;
}

/* What a row takes from its first load to its last store, by what one instruction takes. A wide row has a
 * warp alone, and too few warps have room beside it. */
static double latency_us(const topk_context *context, const struct plan *plan, const struct network *search) {
    return block_us(context, topk_cuda_costs.rtopk.latency_us *
                                 (is_wide(plan) ? search->of_warp : search->instructions));
}

static double cost_us(const topk_context *context, const struct plan *plan) {
    const double rows = (double)plan->problem.rows;
    if (rows == 0) {
        return topk_cuda_costs.launch_us;
    }
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes +
                         (double)plan->output_elements * (double)(plan->element_bytes + plan->index_bytes);
    const struct network search =
        plan->approximate ? (struct network){.instructions = topk_cuda_rtopk_approximate_instructions(plan) +
                                                             12 * entries_of(plan)}
                          : search_of(context, plan);
    return topk_cuda_costs.launch_us + latency_us(context, plan, &search) +
           fmax(work_us(context, rows * search.instructions, topk_cuda_costs.rtopk.instructions_per_us),
                move_us(context, bytes, topk_cuda_costs.rtopk.bytes_per_us));
}

static size_t workspace_bytes(const topk_context *context, const struct plan *plan) {
    struct arena arena = arena_over(NULL);
    (void)context;
    if (has_predicate(plan)) {
        (void)arena_take(&arena, 1, sizeof(struct match)); /* of bounds that the device reads */
    }
    return arena_bytes(&arena);
}

static int run_where(const struct plan *plan, const struct launch_grid *grid, const struct rtopk_args *of_row,
                     const struct predicate_args *predicate) {
    const struct where_args args = {*of_row, *predicate};
    const uint32_t row_class = row_class_of(plan->problem.length_max);
    return where_kernels[width_of(plan)]->row(grid, &args, row_class == 0 ? 0 : row_class - 1);
}

static int run(const struct call *call) {
    const struct plan *plan = call->plan;
    const bool is_kth = plan->operation == TOPK_OPERATION_KTH;
    const int64_t rows = plan->problem.rows;
    struct predicate_args predicate = {.is_given = false};
    int error;
    const struct launch_grid grid =
        grid_of(call, divide_up(rows, RTOPK_THREADS / 32), RTOPK_GRID_BLOCKS, RTOPK_THREADS);
    struct rtopk_args args = {.rows = row_args_of(call),
                              .decode = topk_decode_args(&plan->order),
                              .kth = kth_outputs_of(call),
                              .is_kth = is_kth,
                              .is_sorted = is_sorted(plan),
                              .slots = (uint32_t)greatest(is_kth ? 0 : results_max(plan), RTOPK_LISTED),
                              .entries = entries_of(plan)};
    if (rows == 0 || (!is_kth && plan->problem.k_max == 0)) {
        return 0;
    }
    if (has_predicate(plan)) {
        struct arena arena = arena_over(call->workspace);
        predicate = topk_cuda_predicate_args(call, arena_take(&arena, 1, sizeof(struct match)));
    }
    error = topk_cuda_read_bounds(call, &predicate);
    if (error != 0) {
        return error;
    }
    if (plan->approximate) {
        return topk_cuda_rtopk_run_approximate(call, &args, &predicate);
    }
    if (predicate.is_given) {
        return run_where(plan, &grid, &args, &predicate);
    }
    if (topk_cuda_rtopk_is_uniform(call)) {
        const struct network network = topk_cuda_rtopk_network_of(call->context, plan);
        if (network.instructions < plain_instructions(call->context, plan)) {
            return topk_cuda_rtopk_run_network(call, &args, &network);
        }
    }
    if (is_uneven(plan)) {
        const struct launch_grid uneven = grid_of(call, divide_up(rows, RTOPK_UNEVEN_THREADS / 32),
                                                  RTOPK_GRID_BLOCKS, RTOPK_UNEVEN_THREADS);
        return kernels[width_of(plan)]->uneven(&uneven, &args);
    }
    return kernels[width_of(plan)]->row(&grid, &args, row_class_of(plan->problem.length_max));
}

static int prepare(const topk_context *context) {
    int error = topk_cuda_prepare_bounds();
    error = error != 0 ? error : topk_cuda_rtopk_prepare_approximate();
    error = error != 0 ? error : topk_cuda_rtopk_prepare_network();
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare();
        error = error != 0 ? error : where_kernels[width]->prepare();
    }
    (void)context;
    return error;
}

const struct method topk_cuda_rtopk = {.name = "rtopk",
                                       .operations = SELECTS_WHERE,
                                       .approximates = true,
                                       .knobs = topk_cuda_rtopk_knobs,
                                       .refuse = refuse,
                                       .cost_us = cost_us,
                                       .workspace_bytes = workspace_bytes,
                                       .prepare = prepare,
                                       .run = run};
