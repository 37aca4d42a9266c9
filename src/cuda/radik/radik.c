/* SPDX-License-Identifier: Apache-2.0
 * What a call of radik launches. */
#include "../../reached.h"
#include "../leaf.h"
#include "../methods.h"
#include "../ordering/ordering.h"
#include "../select/plan.h"
#include "strategy.h"

static void fill_args(const struct call *call, const struct radik_strategy *s, struct radik_layout *l) {
    struct radik_args *args = &l->args;
    const struct plan *plan = call->plan;
    args->rows = row_args_with(call, &s->order.map);
    if (has_predicate(plan)) {
        args->predicate = topk_cuda_predicate_args(call, l->found_match);
    }
    args->decode = s->order;
    args->kth = kth_outputs_of(call);
    set_target(plan, s->target, &args->target);
    args->target.two_words = s->two_words;
    args->target.pitch = s->pitch;
    args->target.list.wide = s->wide;
    args->digits.bits = s->digit_bits;
    args->digits.early_stop = s->target != TARGET_KTH;
    args->candidates.wide = s->wide;
    args->tile_capacity = s->tile_capacity;
    args->block_entries = s->block_entries;
    args->seed = call->context->seed;
    args->has_many = s->has_many;
    args->uses_buffer = s->uses_buffer;
    args->pads = s->pads;
    args->scales = s->scales;
    args->tasks.only_row = -1;
    args->tasks.rows_max = s->states;
    args->tasks.tiles_max = s->tiles;
    args->tasks.tile_elements = s->tile_elements;
}

/* Ranks the results with the whole device, or sorts each row's in one block. */
static int launch_sort(const struct call *call, const struct radik_strategy *s, struct launch_grid grid,
                       const struct radik_args *args) {
    const struct radik_kernels *kernels = topk_cuda_radik_kernels[width_of(call->plan)];
    const int64_t rows = args->tasks.only_row >= 0 ? 1 : s->states, k = call->plan->problem.k_max;
    if (ranks_results(rows, k, RADIK_RANK_ROWS)) {
        const int64_t warps = RADIK_RANK_THREADS / 32;
        TOPK_REACHED(REACHED_RADIK_RANK);
        grid.threads = RADIK_RANK_THREADS;
        grid.blocks = (uint32_t)(k / (2 * warps) + 1);
        grid.rows = (uint32_t)least(rows, RADIK_GRID_ROWS);
        return kernels->launch(RADIK_RANK, &grid, args);
    }
    TOPK_REACHED(REACHED_RADIK_SORT);
    grid.blocks = (uint32_t)least(rows, RADIK_GRID_BLOCKS);
    grid.threads = RADIK_SORT_THREADS;
    return kernels->launch(RADIK_SORT, &grid, args);
}

/* All passes of all rows, or of one. */
static int launch_passes(const struct call *call, const struct radik_strategy *s, struct radik_args *args) {
    const struct radik_kernels *kernels = topk_cuda_radik_kernels[width_of(call->plan)];
    const bool writes = s->target != TARGET_KTH && !s->in_order;
    const bool orders = s->may_go_in_order, sorts = s->target == TARGET_ENTRIES;
    const int64_t rows = args->tasks.only_row >= 0 ? 1 : s->states;
    const uint32_t reading = s->passes + (writes ? 1 : 0);
    struct launch_grid grid = grid_of(call, rows, s->blocks, RADIK_THREADS);
    const bool dependent = device_of(call->context)->dependent_launch;
    args->has_successor = true;
    grid.dependent = dependent && args->tasks.only_row < 0 && args->tasks.tiles_of_row == 0; /* on the list */
    int error = kernels->launch(RADIK_BEGIN, &grid, args);
    grid.dependent = dependent;
    grid.blocks = s->blocks;
    for (uint32_t pass = 0; pass < reading && error == 0; pass++) {
        args->has_successor = pass + 1 < reading || orders || sorts || call->is_followed;
        error = kernels->launch(pass == 0 ? RADIK_FIRST : RADIK_NEXT, &grid, args);
    }
    args->has_successor = sorts || call->is_followed;
    error = error != 0 || !orders ? error : kernels->launch(RADIK_ORDER, &grid, args);
    args->has_successor = false;
    return error != 0 || !sorts ? error : launch_sort(call, s, grid, args);
}

static int launch_row_by_row(const struct call *call, const struct radik_strategy *s,
                             struct radik_layout *l) {
    int error = 0;
    for (int64_t row = 0; row < call->plan->problem.rows && error == 0; row++) {
        l->args.tasks.only_row = row;
        if (row > 0 && s->may_go_in_order) {
            error = topk_device_zero(call->stream, l->args.lookback, l->lookback_bytes);
        }
        error = error != 0 ? error : launch_passes(call, s, &l->args);
    }
    return error;
}

/* Rows whose lengths the device knows. */
static int launch_list(const struct call *call, const struct radik_layout *l) {
    const struct launch_grid grid =
        grid_of(call, l->args.tasks.list_tiles, RADIK_LIST_BLOCKS, RADIK_LIST_THREADS);
    return topk_cuda_radik_list(&grid, &l->args);
}

static int run_shorts(const struct call *call, const struct radik_strategy *s, const struct radik_layout *l) {
    struct call shorts = topk_subcall_call(call, s->shorts, l->shorts_workspace);
    const struct short_rows *spans = &l->args.short_rows;
    TOPK_REACHED(REACHED_RADIK_SHORT_ROWS);
    shorts.input.lengths = shorts.input.offsets = NULL;
    shorts.input.begins = spans->begins;
    shorts.input.ends = spans->ends;
    shorts.input.k = spans->k;
    return s->shorts->decision.run(&shorts);
}

/* Rows that are not even, or not alike in what the host knows of them. */
static bool are_listed(const struct call *call, const struct radik_strategy *s) {
    const topk_problem *p = &call->plan->problem;
    return s->reschedules && (p->shape != TOPK_SHAPE_STRIDED || call->input.lengths != NULL);
}

static int run_tasks(const struct call *call, const struct radik_strategy *s, struct radik_layout *l) {
    const bool listed = are_listed(call, s);
    int error = 0;
    l->args.tasks.tiles_of_row = listed ? 0 : s->tiles_of_row;
    if ((listed && l->args.tasks.list_tiles > 1) || s->may_go_in_order) {
        error = topk_device_zero(call->stream, l->zeroed, l->zeroed_bytes);
    }
    error = error != 0 ? error : topk_cuda_read_bounds(call, &l->args.predicate);
    if (listed) {
        error = error != 0 ? error : launch_list(call, l);
        error = error != 0 || s->shorts == NULL ? error : run_shorts(call, s, l);
    } else {
        l->args.short_rows.begins = NULL;
    }
    if (error == 0) {
        error = s->reschedules ? launch_passes(call, s, &l->args) : launch_row_by_row(call, s, l);
    }
    if (error == 0 && s->target == TARGET_LIST) {
        struct call sort = topk_subcall_same(call, &s->sort, l->sort_workspace);
        sort.found = &l->found;
        error = topk_cuda_sort.run(&sort);
    }
    if (error == 0 && listed &&
        s->may_overflow) { /* all rows once more, where the list has too little room */
        struct call air = topk_subcall_same(call, &s->air, l->air_workspace);
        air.condition = l->args.tasks.overflow;
        error = topk_cuda_air.run(&air);
    }
    return error;
}

static int run(const struct call *call) {
    const struct radik_strategy *s = call->decision->own;
    if (s->is_empty) {
        return 0;
    }
    struct radik_layout l = topk_cuda_radik_lay_out(call->plan, s, call->workspace);
    if (s->is_air) {
        const struct call air = topk_subcall_same(call, &s->air, l.air_workspace);
        return topk_cuda_air.run(&air);
    }
    fill_args(call, s, &l);
    return run_tasks(call, s, &l);
}

/* More results than one block sorts are found in any order, and put in order afterwards. */
static void decide(const topk_context *context, const struct plan *plan, struct room *room,
                   struct decision *decision) {
    if (topk_cuda_orders_beyond(context, plan, SELECT_SORT_MAX)) {
        topk_cuda_plan_ordered(context, plan, &topk_cuda_radik, room, decision);
    } else {
        topk_cuda_radik_plan(context, plan, room, decision);
    }
}

static int prepare(const topk_context *context) {
    int error = topk_cuda_prepare_bounds();
    error = error != 0 ? error : topk_cuda_radik_prepare_list();
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = topk_cuda_radik_kernels[width]->prepare((uint32_t)device_of(context)->shared_bytes_max);
    }
    return error;
}

const struct method topk_cuda_radik = {.name = "radik",
                                       .operations = SELECTS_WHERE,
                                       .knobs = topk_cuda_radik_knobs,
                                       .least_us = topk_cuda_radik_least_us,
                                       .plan = decide,
                                       .prepare = prepare,
                                       .run = run};
