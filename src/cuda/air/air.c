/* SPDX-License-Identifier: Apache-2.0
 * What a call of air launches. */
#include "../../reached.h"
#include "../../subcall.h"
#include "../leaf.h"
#include "../lookback.h"
#include "../methods.h"
#include "../ordering/ordering.h"
#include "../select/plan.h"
#include "strategy.h"

static void fill_args(const struct call *call, const struct strategy *s, struct layout *l) {
    struct air_args *args = &l->args;
    const struct plan *plan = call->plan;
    args->rows = row_args_of(call);
    if (has_predicate(plan)) {
        args->predicate = topk_cuda_predicate_args(call, l->found_match);
    }
    args->decode = topk_decode_args(&plan->order, &args->rows.map);
    args->kth = kth_outputs_of(call);
    set_target(plan, s->target, &args->target);
    args->target.two_words = s->two_words;
    args->target.pitch = s->pitch;
    args->target.list.wide = s->wide;
    args->by_extent = s->by_extent;
    args->digits.bits = s->digit_bits;
    args->digits.early_stop = s->early_stop;
    args->digits.surplus = s->surplus;
    args->capacity = s->capacity;
    args->candidates.wide = s->wide;
    args->lookback.tiles = s->tiles;
    args->lookback.sum_words = look_back_words(s->tiles);
    args->block_entries = s->block_entries;
    args->block_candidates = s->block_candidates;
}

static int launch_row(const struct call *call, const struct strategy *s, const struct air_args *args) {
    const struct plan *plan = call->plan;
    /* A call that is probably called off has no more blocks than run at once. */
    const int64_t blocks_max =
        call->condition != NULL ? least(s->resident_blocks, AIR_GRID_BLOCKS) : AIR_GRID_BLOCKS;
    const struct launch_grid grid = grid_of(call, plan->problem.rows, blocks_max, s->row_threads);
    if (s->usual_length < plan->problem.length_max) {
        TOPK_REACHED(REACHED_AIR_MEAN_LENGTH);
    }
    return topk_cuda_air_kernels[width_of(plan)]->launch(AIR_ROW, &grid, args);
}

/* Ranks the results with the whole device, or sorts each row's in one block. */
static int launch_sort(const struct call *call, const struct launch_grid *passes,
                       const struct air_args *args) {
    const struct plan *plan = call->plan;
    const int64_t rows = plan->problem.rows, k = plan->problem.k_max;
    struct launch_grid grid = *passes;
    if (ranks_results(rows, k, AIR_RANK_ROWS)) {
        const int64_t warps = AIR_RANK_THREADS / 32;
        TOPK_REACHED(REACHED_AIR_RANK);
        grid.threads = AIR_RANK_THREADS;
        grid.blocks = (uint32_t)(k / (2 * warps) + 1);
        return topk_cuda_air_kernels[width_of(plan)]->launch(AIR_RANK, &grid, args);
    }
    TOPK_REACHED(REACHED_AIR_SORT);
    grid.blocks = (uint32_t)least(rows, AIR_GRID_BLOCKS);
    grid.rows = 1;
    grid.threads = AIR_SORT_THREADS;
    return topk_cuda_air_kernels[width_of(plan)]->launch(AIR_SORT, &grid, args);
}

/* The digit of the next pass, whose bits are known after it. By extent only its mask counts: the shift
 * follows from the range of each row. */
static struct digit take_digit(const struct strategy *s, bool by_extent, uint32_t *unknown) {
    const uint32_t bits = by_extent || *unknown > s->digit_bits ? s->digit_bits : *unknown;
    *unknown -= bits < *unknown ? bits : *unknown;
    return (struct digit){*unknown, ((uint32_t)1 << bits) - 1};
}

static int launch_passes(const struct call *call, const struct strategy *s, struct air_args *args) {
    const struct plan *plan = call->plan;
    const struct air_kernels *kernels = topk_cuda_air_kernels[width_of(plan)];
    struct launch_grid grid = grid_of(call, s->blocks, INT32_MAX, AIR_THREADS);
    uint32_t unknown = plan->element_bits;
    const bool dependent = device_of(call->context)->dependent_launch,
               sorted_last = s->target == TARGET_ENTRIES;
    int error = 0;
    grid.rows = (uint32_t)least(plan->problem.rows, AIR_GRID_ROWS);
    if (args->by_extent) {
        args->has_successor = true;
        grid.blocks = s->first_blocks;
        error = kernels->launch(AIR_EXTENT, &grid, args);
        grid.dependent = dependent;
    }
    for (uint32_t pass = 0; pass < s->passes && error == 0; pass++) {
        const bool is_last = pass + 1 == s->passes, is_first = pass == 0 && !args->by_extent;
        args->digit = take_digit(s, args->by_extent, &unknown);
        args->has_successor = !is_last || s->has_last || sorted_last || call->is_followed;
        grid.blocks = is_first ? s->first_blocks : s->blocks;
        const enum air_kernel kernel = is_first ? AIR_FIRST : is_last && s->fused ? AIR_FUSED : AIR_NEXT;
        error = kernels->launch(kernel, &grid, args);
        grid.dependent = dependent;
    }
    args->has_successor = sorted_last || call->is_followed;
    if (error == 0 && s->has_last) {
        error = kernels->launch(AIR_LAST, &grid, args);
    }
    if (error == 0 && sorted_last) {
        error = launch_sort(call, &grid, args);
    }
    return error;
}

static int run(const struct call *call) {
    const struct strategy *s = call->decision->own;
    struct layout l = topk_cuda_air_lay_out(call->plan, s, call->workspace);
    fill_args(call, s, &l);
    int error = topk_cuda_read_bounds(call, &l.args.predicate);
    if (error == 0 && s->one_block) {
        error = launch_row(call, s, &l.args);
    } else if (error == 0) {
        error = topk_device_zero(call->stream, l.zeroed, l.zeroed_bytes);
        error = error != 0 ? error : launch_passes(call, s, &l.args);
    }
    if (error == 0 && s->target == TARGET_LIST) {
        struct call sort = topk_subcall_same(call, &s->sort, l.sort_workspace);
        sort.found = &l.found;
        error = topk_cuda_sort.run(&sort);
    }
    return error;
}

/* More results than one block sorts are found in any order, and put in order afterwards. */
static void decide(const topk_context *context, const struct plan *plan, struct room *room,
                   struct decision *decision) {
    if (topk_cuda_orders_beyond(context, plan, SELECT_SORT_MAX)) {
        topk_cuda_plan_ordered(context, plan, &topk_cuda_air, room, decision);
    } else {
        topk_cuda_air_plan(context, plan, room, decision);
    }
}

static int prepare(const topk_context *context) {
    const uint32_t shared_bytes_max = (uint32_t)device_of(context)->shared_bytes_max;
    int error = topk_cuda_prepare_bounds();
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = topk_cuda_air_kernels[width]->prepare(shared_bytes_max);
    }
    return error;
}

const struct method topk_cuda_air = {.name = "air",
                                     .operations = SELECTS_KTH_WHERE,
                                     .knobs = topk_cuda_air_knobs,
                                     .least_us = topk_cuda_air_least_us,
                                     .plan = decide,
                                     .prepare = prepare,
                                     .run = run};
