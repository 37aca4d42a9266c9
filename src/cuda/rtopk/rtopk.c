/* SPDX-License-Identifier: Apache-2.0
 * What a call of rtopk launches. */
#include "../methods.h"

#include <math.h>

#include "../../workspace.h"
#include "approximate.h"
#include "network.h"
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

static const char *refuse(const topk_context *context, const struct plan *plan) {
    (void)context;
    if (plan->approximate) {
        return plan->problem.length_max > RTOPK_APPROXIMATE_MAX ? "rows are longer than 8192 elements" : NULL;
    }
    return plan->problem.length_max > RTOPK_ROW_MAX ? "rows are longer than a warp's registers hold" : NULL;
}

/* A model, not a fit: a launch; bytes that are read and written in a microsecond; instructions that all warps
 * together issue in one, and what a row takes of them. */
static const double LAUNCH_US = 3, BYTES_PER_US = 4.2e6, INSTRUCTIONS_PER_US = 0.6e6;

/* Of an exact search without a network. Rows of one length with few results take less. */
static double plain_instructions(const topk_context *context, const struct plan *plan) {
    const int64_t k = results_max(plan), items = items_of_class[row_class_of(plan->problem.length_max)];
    const double held = (double)items;
    if (plan->operation != TOPK_OPERATION_SELECT || plan->problem.shape != TOPK_SHAPE_STRIDED ||
        k > RTOPK_SMALL_K) {
        const double of_results = k > RTOPK_SMALL_K ? 2.5 * (double)k + 12 * entries_of(plan) : 0;
        return topk_cuda_rtopk_instructions_of_row(context, plan, 300 + 25 * held + of_results, 1);
    }
    const int64_t rows = items <= RTOPK_ITEMS_OF_TWO ? RTOPK_ROWS_OF_WARP : 1;
    const double of_row = k <= RTOPK_SMALL_K / 2 ? 140 + 20 * held : 200 + 27 * held;
    return topk_cuda_rtopk_instructions_of_row(context, plan, (double)rows * of_row, rows);
}

static double search_instructions(const topk_context *context, const struct plan *plan) {
    const double plain = plain_instructions(context, plan);
    const bool may_be_uniform =
        plan->operation == TOPK_OPERATION_SELECT && plan->problem.shape == TOPK_SHAPE_STRIDED;
    return may_be_uniform ? fmin(plain, topk_cuda_rtopk_network_of(context, plan).instructions) : plain;
}

static double cost_us(const topk_context *context, const struct plan *plan) {
    const double rows = (double)plan->problem.rows;
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes +
                         (double)plan->output_elements * (double)(plan->element_bytes + plan->index_bytes);
    const double instructions = plan->approximate
                                    ? topk_cuda_rtopk_approximate_instructions(plan) + 12 * entries_of(plan)
                                    : search_instructions(context, plan);
    const double issue_us = rows * instructions / INSTRUCTIONS_PER_US, move_us = bytes / BYTES_PER_US;
    return LAUNCH_US + (issue_us > move_us ? issue_us : move_us);
}

static size_t workspace_bytes(const topk_context *context, const struct plan *plan) {
    struct arena arena = arena_over(NULL);
    (void)context;
    if (has_predicate(plan)) {
        (void)arena_take(&arena, 1, sizeof(struct match)); /* of bounds that the device reads */
    }
    return arena_bytes(&arena);
}

/* The threshold of a row is the best lead of some lane. k - 1 lanes may have better ones, for then k elements
 * reach it. Where so many elements would do so that they leave less than half of the room for candidates
 * beyond k, fewer lanes must. The estimate takes elements to be spread over the lanes at random. */
static uint8_t rank_of(int64_t k, double length, double lanes) {
    const double room = (double)(k + RTOPK_FEW) / 2;
    double rank = least(k, (int64_t)lanes);
    if (length > room) {
        const double most = (lanes + 1) * (1 - pow(1 - room / length, length / lanes));
        rank = most < rank ? most : rank;
    }
    return (uint8_t)(rank - 1);
}

/* How many elements to the left of a row its first group may have. */
static int64_t left_max(const struct call *call) {
    const int64_t stride = call->plan->problem.row_stride, per = group_elements(call->plan);
    const bool is_aligned = (uintptr_t)call->input.values % 16 == 0 && stride % per == 0;
    return is_aligned ? 0 : per - 1;
}

/* Rows that a block of small_k serves. */
static int64_t rows_of_block(uint32_t row_class) {
    return RTOPK_THREADS / 32 * (items_of_class[row_class] <= RTOPK_ITEMS_OF_TWO ? 2 : 1);
}

/* Whether small_k serves uniform rows: few elements are results, and registers hold rows wherever they begin.
 */
static bool has_small_k(const struct call *call) {
    const topk_problem *p = &call->plan->problem;
    return results_max(call->plan) <= RTOPK_SMALL_K && p->length_max + left_max(call) <= RTOPK_ROW_MAX &&
           (p->row_stride == p->length_max || topk_cuda_rtopk_is_whole(call));
}

static int run_small_k(const struct call *call, struct rtopk_args *args) {
    const struct plan *plan = call->plan;
    const topk_problem *p = &plan->problem;
    const int64_t overhang = left_max(call), length = p->length_max;
    const uint32_t row_class = row_class_of(length + overhang);
    const int64_t per = least(group_elements(plan), items_of_class[row_class]); /* of a lane's group */
    const int64_t lanes = least(divide_up(length, per), 32);
    const int64_t followers = divide_up(group_elements(plan), length);
    const struct launch_grid grid =
        grid_of(call, divide_up(p->rows, rows_of_block(row_class)), INT32_MAX, RTOPK_THREADS);
    struct uniform_rows *u = &args->uniform;
    *u = topk_cuda_rtopk_uniform_rows(call, &args->rows.map);
    u->groups = (uint32_t)divide_up(length + overhang, 32 * per);
    u->rank = rank_of(u->k, (double)length, (double)lanes);
    u->is_whole = overhang == 0 && length % (32 * per) == 0;
    u->safe_rows = topk_cuda_rtopk_is_whole(call) ? p->rows : greatest(p->rows - followers, 0);
    return kernels[width_of(plan)]->small_k(&grid, args, row_class);
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
                              .slots = (uint32_t)greatest(is_kth ? 0 : results_max(plan), RTOPK_FEW),
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
    if (topk_cuda_rtopk_is_uniform(call, &args.rows.map)) {
        const struct network network = topk_cuda_rtopk_network_of(call->context, plan);
        if (network.instructions < plain_instructions(call->context, plan)) {
            return topk_cuda_rtopk_run_network(call, &args, &network);
        }
        if (has_small_k(call)) {
            return run_small_k(call, &args);
        }
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
