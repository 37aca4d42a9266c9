/* SPDX-License-Identifier: Apache-2.0
 * What a call of air launches. */
#include <math.h>

#include "../../reached.h"
#include "../leaf.h"
#include "../lookback.h"
#include "../methods.h"
#include "../select/plan.h"
#include "strategy.h"

/* Of blocks that have a row each: so many go through their rows at once. */
static double own_rows_us(const topk_context *context, const struct plan *plan, const struct strategy *s,
                          double sorted_us) {
    const double at_once = (double)device_of(context)->sms * AIR_ROW_THREADS_MAX / s->row_threads;
    const double row_us =
        topk_cuda_costs.air.row_us + (double)plan->problem.length_max / topk_cuda_costs.air.elements_per_us;
    return (block_us(context, row_us) + sorted_us) * fmax(1, (double)plan->problem.rows / at_once);
}

static double cost_us(const topk_context *context, const struct plan *plan) {
    const struct strategy s = topk_cuda_air_strategy(context, plan);
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes;
    const double read_us = move_us(context, bytes, topk_cuda_costs.air.bytes_per_us);
    const double sorted_us = sorting_us(context, plan, s.target);
    const topk_problem *p = &plan->problem;
    const double chosen = plan->operation == TOPK_OPERATION_KTH /* what is not worse is collected, too */
                              ? (double)p->rows * (double)least(p->k_max, p->length_max)
                              : (double)plan->output_elements;
    if (s.one_block) {
        const double of_list = s.target == TARGET_LIST ? sorted_us : 0; /* all rows together */
        return own_rows_us(context, plan, &s, sorted_us - of_list) + of_list +
               topk_cuda_costs.air.own_reads * read_us;
    }
    return topk_cuda_costs.air.pass_us * (s.passes + 1) + sorted_us +
           topk_cuda_costs.air.shared_reads * read_us +
           work_us(context, chosen, topk_cuda_costs.air.chosen_per_us);
}

static size_t workspace_bytes(const topk_context *context, const struct plan *plan) {
    const struct strategy s = topk_cuda_air_strategy(context, plan);
    return topk_cuda_air_lay_out(context, plan, &s, NULL).bytes;
}

static void fill_args(const struct call *call, const struct strategy *s, struct layout *l) {
    struct air_args *args = &l->args;
    const struct plan *plan = call->plan;
    args->rows = row_args_of(call);
    if (has_predicate(plan)) {
        args->predicate = topk_cuda_predicate_args(call, l->found_match);
    }
    args->decode = topk_decode_args(&plan->order);
    args->kth = kth_outputs_of(call);
    args->target.kind = s->target;
    args->target.ties_free = plan->problem.ties == TOPK_TIES_ANY;
    args->target.two_words = s->two_words;
    args->target.pitch = s->pitch;
    args->target.list.wide = s->wide;
    args->by_extent = plan->by_extent;
    args->digits.bits = s->digit_bits;
    args->digits.early_stop = s->early_stop;
    args->digits.surplus = plan->surplus;
    args->capacity = s->capacity;
    args->candidates.wide = s->wide;
    args->lookback.tiles = s->tiles;
    args->lookback.sum_words = look_back_words(s->tiles);
    args->block_entries = s->block_entries;
    args->block_candidates = s->wide ? 0 : finish_candidates((uint32_t)plan->element_bytes);
}

static int launch_row(const struct call *call, const struct strategy *s, struct air_args *args) {
    const struct plan *plan = call->plan;
    /* A call that is probably called off has no more blocks than run at once. */
    const int64_t at_once = (int64_t)device_of(call->context)->sms * AIR_ROW_THREADS_MAX / s->row_threads;
    const int64_t blocks_max = call->condition != NULL ? least(at_once, AIR_GRID_BLOCKS) : AIR_GRID_BLOCKS;
    const struct launch_grid grid = grid_of(call, plan->problem.rows, blocks_max, s->row_threads);
    args->block_candidates = s->row_candidates;
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
    /* No row needs the last filter where the last pass writes them all, whatever they hold. */
    const bool writes_all = s->fused && args->target.ties_free && s->target != TARGET_LIST;
    const bool filtered_last = s->target != TARGET_KTH && !writes_all,
               sorted_last = s->target == TARGET_ENTRIES;
    int error = 0;
    grid.rows = (uint32_t)least(plan->problem.rows, AIR_GRID_ROWS);
    if (args->by_extent) {
        args->has_successor = true;
        grid.blocks = s->first_blocks;
        error = kernels->launch(AIR_EXTENT, &grid, args);
        grid.dependent = device_of(call->context)->dependent_launch;
    }
    for (uint32_t pass = 0; pass < s->passes && error == 0; pass++) {
        const bool is_last = pass + 1 == s->passes, is_first = pass == 0 && !args->by_extent;
        args->digit = take_digit(s, args->by_extent, &unknown);
        args->has_successor = !is_last || filtered_last || sorted_last;
        grid.blocks = is_first ? s->first_blocks : s->blocks;
        const enum air_kernel kernel = is_first ? AIR_FIRST : is_last && s->fused ? AIR_FUSED : AIR_NEXT;
        error = kernels->launch(kernel, &grid, args);
        grid.dependent = device_of(call->context)->dependent_launch;
    }
    args->has_successor = sorted_last;
    if (error == 0 && filtered_last) {
        error = kernels->launch(AIR_LAST, &grid, args);
    }
    if (error == 0 && sorted_last) {
        error = launch_sort(call, &grid, args);
    }
    return error;
}

static int run(const struct call *call) {
    const struct strategy s = topk_cuda_air_strategy(call->context, call->plan);
    struct layout l = topk_cuda_air_lay_out(call->context, call->plan, &s, call->workspace);
    fill_args(call, &s, &l);
    int error = topk_cuda_read_bounds(call, &l.args.predicate);
    if (error == 0 && s.one_block) {
        error = launch_row(call, &s, &l.args);
    } else if (error == 0) {
        error = topk_device_zero(call->stream, l.zeroed, l.zeroed_bytes);
        error = error != 0 ? error : launch_passes(call, &s, &l.args);
    }
    if (error == 0 && s.target == TARGET_LIST) {
        struct call sort = topk_subcall_call(&l.sort, call);
        sort.found = &l.found;
        error = l.sort.method->run(&sort);
    }
    return error;
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
                                     .operations = SELECTS_WHERE,
                                     .knobs = topk_cuda_air_knobs,
                                     .cost_us = cost_us,
                                     .workspace_bytes = workspace_bytes,
                                     .prepare = prepare,
                                     .run = run};
