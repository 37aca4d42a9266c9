/* SPDX-License-Identifier: Apache-2.0
 * What a call of bitonic launches, and over which workspace. After Shanbhag, Pirk and Madden (SIGMOD 2018):
 * sorted runs, and each pair of them leaves its better half. docs/methods/bitonic.md tells the whole. */
#include <math.h>

#include "../../workspace.h"
#include "../leaf.h"
#include "../methods.h"
#include "../ordering/ordering.h"
#include "kernels.h"

static const struct bitonic_kernels *const kernels_of_width[] = {
    &topk_cuda_bitonic_kernels_8, &topk_cuda_bitonic_kernels_16, &topk_cuda_bitonic_kernels_32,
    &topk_cuda_bitonic_kernels_64};

/* ---- Shape ---- */

/* What is decided, once. A tile has two runs at least. */
struct shape {
    const struct bitonic_kernels *kernels;
    int64_t rows, blocks; /* blocks of a row, in the first launch */
    uint32_t run_log2, tile_log2;
    bool has_two_words; /* of an entry */
};

static int64_t capacity_of(const struct plan *plan) {
    return least(plan->problem.k_max, plan->problem.length_max);
}

static uint32_t log2_from(int64_t least_power, int64_t size) {
    uint32_t log2 = (uint32_t)__builtin_ctzll((unsigned long long)least_power);
    while (INT64_C(1) << log2 < size) {
        log2++;
    }
    return log2;
}

/* Blocks that share a row. */
static int64_t blocks_of(const topk_context *context, const struct plan *plan, const struct shape *s) {
    const int64_t fresh = (INT64_C(1) << s->tile_log2) - (INT64_C(1) << s->run_log2);
    const int64_t at_once = device_of(context)->sms * BITONIC_BLOCKS_PER_SM / greatest(s->rows, 1);
    return greatest(least(divide_up(plan->problem.length_max, fresh), at_once), 1);
}

static struct shape shape_of(const topk_context *context, const struct plan *plan) {
    struct shape s = {.kernels = kernels_of_width[width_of(plan)],
                      .rows = plan->problem.rows,
                      .run_log2 = log2_from(BITONIC_RUN_MIN, capacity_of(plan)),
                      .has_two_words = plan->element_bytes == 8};
    s.tile_log2 = log2_from(s.has_two_words ? BITONIC_TILE_OF_TWO : BITONIC_TILE, INT64_C(2) << s.run_log2);
    s.blocks = blocks_of(context, plan, &s);
    return s;
}

static bool fits_device(const topk_context *context, const struct shape *s) {
    const struct bitonic_args args = {.run_log2 = s->run_log2, .tile_log2 = s->tile_log2};
    return (int64_t)s->kernels->shared_bytes(&args) <= device_of(context)->shared_bytes_max;
}

/* ---- Workspace ---- */

/* Launches read one of these and write to the other by turns; the first one writes to the first. */
struct buffers {
    struct bitonic_lists lists[2];
    size_t bytes;
};

static struct bitonic_lists take_lists(struct arena *arena, const struct shape *s, int64_t count) {
    const size_t entries = count > 1 ? (size_t)s->rows * (size_t)count << s->run_log2 : 0;
    struct bitonic_lists lists = {.count = count};
    lists.entries = arena_take(arena, entries, sizeof *lists.entries);
    lists.entries_low = arena_take(arena, s->has_two_words ? entries : 0, sizeof *lists.entries_low);
    return lists;
}

static struct buffers take_buffers(const struct shape *s, void *workspace) {
    struct arena arena = arena_over(workspace);
    struct buffers b;
    b.lists[0] = take_lists(&arena, s, s->blocks);
    b.lists[1] = take_lists(&arena, s, divide_up(s->blocks, BITONIC_MERGED));
    b.bytes = arena_bytes(&arena);
    return b;
}

/* ---- Deciding ---- */

static int launches_of(const struct shape *s) {
    int launches = 1;
    for (int64_t blocks = s->blocks; blocks > 1; blocks = divide_up(blocks, BITONIC_MERGED)) {
        launches++;
    }
    return launches;
}

/* Passes of an entry through shared memory, three steps of the network in each: to sort runs, and to merge
 * them, twice in all, since each time half of them are left. */
static int64_t passes_of(const struct shape *s) {
    int64_t passes = 2 * (1 + divide_up(s->run_log2, 3));
    for (int64_t size_log2 = 3; size_log2 <= s->run_log2; size_log2++) {
        passes += size_log2 == 3 ? 1 : divide_up(size_log2, 3);
    }
    return passes;
}

/* Loading, and merging few runs, take about as long as five passes. */
static double cost_us(const topk_context *context, const struct plan *plan, const struct shape *s) {
    const double entries = (double)greatest(plan->problem.length_max, INT64_C(2) << s->run_log2);
    return 4 * topk_cuda_costs.launch_us + work_us(context,
                                                   (double)s->rows * entries * (double)(passes_of(s) + 5),
                                                   topk_cuda_costs.bitonic.entries_per_us);
}

static const char *refuse(const struct plan *plan) {
    return capacity_of(plan) > BITONIC_K_MAX            ? "rows have more results than a sorted run"
           : plan->problem.length_max > BITONIC_ROW_MAX ? "rows have 2^31 elements or more"
                                                        : NULL;
}

/* What it costs depends on no more than the size of runs. */
static double least_us(const topk_context *context, const struct plan *plan) {
    if (refuse(plan) != NULL) {
        return INFINITY;
    }
    const struct shape s = {.rows = plan->problem.rows,
                            .run_log2 = log2_from(BITONIC_RUN_MIN, capacity_of(plan))};
    return cost_us(context, plan, &s);
}

static void decide(const topk_context *context, const struct plan *plan, struct room *room,
                   struct decision *decision) {
    if (wants_positions(plan)) {
        topk_cuda_plan_ordered(context, plan, &topk_cuda_bitonic, room, decision);
        return;
    }
    decision->cannot = refuse(plan);
    if (decision->cannot != NULL) {
        return;
    }
    struct shape *s = topk_room_take(room, sizeof *s);
    *s = shape_of(context, plan);
    if (!fits_device(context, s)) {
        decision->cannot = "two runs of so many results exceed the shared memory of a block";
        return;
    }
    decision->launches = launches_of(s);
    decision->cost_us = cost_us(context, plan, s);
    decision->workspace_bytes = take_buffers(s, NULL).bytes;
    decision->own = s;
}

/* ---- Launches ---- */

static int run(const struct call *call) {
    const struct shape *s = call->decision->own;
    const struct buffers b = take_buffers(s, call->workspace);
    struct bitonic_args args = {.run_log2 = s->run_log2, .tile_log2 = s->tile_log2};
    int64_t blocks = s->blocks;
    struct launch_grid grid = grid_of(call, blocks, blocks, BITONIC_THREADS);
    int error = 0;
    if (s->rows == 0 || call->plan->problem.k_max == 0) {
        return 0;
    }
    args.rows = row_args_of(call);
    grid.rows = (uint32_t)least(s->rows, BITONIC_GRID_ROWS);
    for (int turn = 0; error == 0 && blocks > 0; turn ^= 1) {
        args.to = blocks > 1 ? b.lists[turn] : (struct bitonic_lists){.count = 0};
        args.to.count = blocks > 1 ? blocks : 0;
        args.has_successor = blocks > 1;
        grid.blocks = (uint32_t)blocks;
        error = s->kernels->select(&grid, &args);
        grid.dependent = device_of(call->context)->dependent_launch;
        args.from = args.to;
        blocks = blocks > 1 ? divide_up(blocks, BITONIC_MERGED) : 0;
    }
    return error;
}

static int prepare(const topk_context *context) {
    const uint32_t shared_bytes_max = (uint32_t)device_of(context)->shared_bytes_max;
    int error = 0;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels_of_width[width]->prepare(shared_bytes_max);
    }
    return error;
}

const struct method topk_cuda_bitonic = {.name = "bitonic",
                                         .operations = OPERATION_BIT(TOPK_OPERATION_SELECT),
                                         .least_us = least_us,
                                         .plan = decide,
                                         .prepare = prepare,
                                         .run = run};
