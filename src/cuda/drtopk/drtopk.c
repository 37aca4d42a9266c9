/* SPDX-License-Identifier: Apache-2.0
 * What a call of drtopk launches: delegates, the first top-k among them by another method, the concatenated
 * vector, and the second top-k on that. */
#include <float.h>
#include <math.h>

#include "../../reached.h"
#include "../methods.h"
#include "../ordering/ordering.h"
#include "../select/plan.h"
#include "strategy.h"

/* ---- Deciding ---- */

/* Of the calls inside, with what comes before, between and after them. */
static int launches_of(const struct strategy *s) {
    return s->base != NULL ? s->base->decision.launches
                           : 2 + s->first_selects + s->is_kth + s->first->decision.launches +
                                 s->second->decision.launches;
}

static double cost_us(const topk_context *context, const struct plan *plan, const struct strategy *s) {
    if (s->base != NULL) {
        return 1.01 * s->base->decision.cost_us;
    }
    const double read = topk_cuda_costs.drtopk.reads * (double)plan->input_elements;
    const double worked =
        topk_cuda_costs.drtopk.worked_reads * (double)plan->problem.rows * (double)(s->slots + s->pitch);
    return topk_cuda_costs.drtopk.call_us +
           move_us(context, (read + worked) * (double)plan->element_bytes,
                   topk_cuda_costs.drtopk.bytes_per_us) +
           work_us(context, (double)plan->output_elements, topk_cuda_costs.air.chosen_per_us) +
           listing_us(context, plan, radix_target_of(plan)) +
           sorting_us(context, plan, radix_target_of(plan));
}

/* The usual base alone, or what is read besides. The base runs inside in any case, with as many rows. */
static double least_us(const topk_context *context, const struct plan *plan) {
    if (wants_positions(plan)) {
        return topk_cuda_costs.launch_us;
    }
    const double read = topk_cuda_costs.drtopk.reads * (double)plan->input_elements;
    const double base_us = topk_cuda_radix.least_us(context, plan);
    return base_us == DBL_MAX ? DBL_MAX
                              : fmin(1.01 * base_us, topk_cuda_costs.drtopk.call_us +
                                                         move_us(context, read * (double)plan->element_bytes,
                                                                 topk_cuda_costs.drtopk.bytes_per_us));
}

/* The usual base serves whatever there is, if its workspace can. */
static void decide(const topk_context *context, const struct plan *plan, struct room *room,
                   struct decision *decision) {
    if (wants_positions(plan)) {
        topk_cuda_plan_ordered(context, plan, &topk_cuda_drtopk, room, decision);
        return;
    }
    struct strategy *s = topk_room_take(room, sizeof *s);
    const bool can = topk_cuda_drtopk_decide(context, plan, room, s) == TOPK_OK;
    decision->cannot = can || !topk_cuda_drtopk_names_base(plan) ? NULL : "its base cannot serve";
    decision->variant = s->base != NULL ? "base" : "delegates";
    decision->own = s;
    decision->workspace_bytes = SIZE_MAX;
    if (can) {
        decision->launches = launches_of(s);
        decision->cost_us = cost_us(context, plan, s);
        decision->workspace_bytes = topk_cuda_drtopk_lay_out(s, NULL).bytes;
    }
}

/* ---- Running ---- */

static int launch_kernel(const struct call *call, const struct layout *l, enum drtopk_kernel kernel,
                         uint32_t blocks, uint32_t threads) {
    const struct strategy *s = call->decision->own;
    struct launch_grid grid = grid_of(call, blocks, blocks, threads);
    grid.rows = (uint32_t)least(s->rows, DRTOPK_GRID_ROWS);
    return s->kernels->launch(kernel, &grid, &l->args);
}

static int make_delegates(const struct call *call, const struct layout *l) {
    const struct strategy *s = call->decision->own;
    if (!s->coalesced) {
        return launch_kernel(call, l, DRTOPK_BY_WARP, s->delegate_blocks, DRTOPK_THREADS);
    }
    TOPK_REACHED(REACHED_DRTOPK_COALESCED);
    return launch_kernel(call, l, DRTOPK_BY_THREAD, s->delegate_blocks, DRTOPK_COALESCED_THREADS);
}

/* A block for each row. */
static int launch_last(const struct call *call, const struct layout *l) {
    const struct strategy *s = call->decision->own;
    const struct launch_grid grid = grid_of(call, s->rows, DRTOPK_GRID_ROWS, DRTOPK_TILE);
    return s->kernels->launch(DRTOPK_LAST, &grid, &l->args);
}

static int run_first(const struct call *call, const struct layout *l) {
    const struct strategy *s = call->decision->own;
    struct call first = topk_subcall_call(call, s->first, l->first);
    first.input = (topk_input){.size = sizeof first.input,
                               .values = l->args.delegates.keys,
                               .lengths = l->args.delegates.lengths,
                               .k = l->args.delegates.needed};
    first.base = 0;
    first.values = s->first_selects ? l->args.first.selected : l->args.first.keys;
    first.indices = l->args.first.selected_slots;
    first.better = l->args.first.better;
    first.equal = l->args.first.equal;
    const int error = s->first->decision.run(&first);
    return error != 0 || !s->first_selects ? error : launch_last(call, l);
}

static int run_second(const struct call *call, const struct layout *l) {
    const struct strategy *s = call->decision->own;
    struct call second = topk_subcall_call(call, s->second, l->second);
    second.input = (topk_input){.size = sizeof second.input,
                                .values = l->elements,
                                .indices = l->indices,
                                .lengths = l->args.concatenated_lengths,
                                .k = l->args.delegates.asked};
    second.base = 0;
    if (s->is_kth) {
        second.values = l->args.kth.values;
        second.equal = NULL;
    }
    return s->second->decision.run(&second);
}

static int run_delegates(const struct call *call, struct layout *l) {
    const struct strategy *s = call->decision->own;
    l->args.rows = row_args_of(call);
    l->args.rows.out_values = l->elements;
    l->args.rows.out_indices = l->indices;
    l->args.exponent = s->exponent;
    l->args.beta = s->beta;
    l->args.tile = (uint32_t)s->tile;
    l->args.filters = s->filters;
    l->args.kth = kth_outputs_of(call);
    l->args.kth.values = call->values != NULL ? call->values : l->kth_values;
    int error = topk_device_zero(call->stream, l->zeroed, l->zeroed_bytes);
    error = error != 0 ? error : make_delegates(call, l);
    error = error != 0 ? error : run_first(call, l);
    error = error != 0 ? error : launch_kernel(call, l, DRTOPK_CONCATENATE, s->tile_blocks, DRTOPK_TILE);
    error = error != 0 ? error : run_second(call, l);
    if (error == 0 && call->equal != NULL) {
        error = launch_kernel(call, l, DRTOPK_EQUAL, s->tile_blocks, DRTOPK_TILE);
    }
    return error;
}

static int run(const struct call *call) {
    const struct strategy *s = call->decision->own;
    struct layout l = topk_cuda_drtopk_lay_out(s, call->workspace);
    if (s->base == NULL) {
        return run_delegates(call, &l);
    }
    const struct call base = topk_subcall_call(call, s->base, l.base);
    TOPK_REACHED(REACHED_DRTOPK_BASE_ALONE);
    return s->base->decision.run(&base);
}

static int prepare(const topk_context *context) {
    int error = 0;
    (void)context;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = topk_cuda_drtopk_kernels[width]->prepare();
    }
    return error;
}

const struct method topk_cuda_drtopk = {.name = "drtopk",
                                        .operations = SELECTS,
                                        .knobs = topk_cuda_drtopk_knobs,
                                        .least_us = least_us,
                                        .plan = decide,
                                        .prepare = prepare,
                                        .run = run};
