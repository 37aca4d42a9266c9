/* SPDX-License-Identifier: Apache-2.0
 * What a call of drtopk launches: delegates, the first top-k among them by another method, the concatenated
 * vector, and the second top-k on that. */
#include "../../reached.h"
#include "../methods.h"
#include "../select/plan.h"
#include "strategy.h"

static const struct drtopk_kernels *const kernels_of_width[] = {
    &topk_cuda_drtopk_kernels_8, &topk_cuda_drtopk_kernels_16, &topk_cuda_drtopk_kernels_32,
    &topk_cuda_drtopk_kernels_64};

static size_t workspace_bytes(const topk_context *context, const struct plan *plan) {
    const struct strategy s = topk_cuda_drtopk_strategy(context, plan);
    return topk_cuda_drtopk_lay_out(context, plan, &s, NULL).bytes;
}

static const char *refuse(const topk_context *context, const struct plan *plan) {
    if (!topk_cuda_drtopk_names_base(plan)) {
        return NULL; /* the usual base serves whatever there is */
    }
    const struct strategy s = topk_cuda_drtopk_strategy(context, plan);
    return topk_cuda_drtopk_lay_out(context, plan, &s, NULL).status == TOPK_OK ? NULL
                                                                               : "its base cannot serve";
}

static double cost_us(const topk_context *context, const struct plan *plan) {
    const struct strategy s = topk_cuda_drtopk_strategy(context, plan);
    const double element_bytes = (double)plan->element_bytes;
    if (s.is_base) {
        struct plan of_base = *plan;
        of_base.tuning.count = 0;
        return 1.01 * s.base->cost_us(context, &of_base);
    }
    const double read = topk_cuda_costs.drtopk.reads * (double)plan->input_elements;
    const double worked =
        topk_cuda_costs.drtopk.worked_reads * (double)plan->problem.rows * (double)(s.slots + s.pitch);
    return topk_cuda_costs.drtopk.call_us +
           move_us(context, (read + worked) * element_bytes, topk_cuda_costs.drtopk.bytes_per_us) +
           work_us(context, (double)plan->output_elements, topk_cuda_costs.air.chosen_per_us) +
           sorting_us(context, plan, radix_target_of(plan));
}

/* ---- Running ---- */

static int launch_kernel(const struct call *call, const struct layout *l, enum drtopk_kernel kernel,
                         int64_t subranges_of_block, int64_t threads, int64_t blocks_per_sm) {
    const struct plan *plan = call->plan;
    const int64_t rows = plan->problem.rows, sms = device_of(call->context)->sms;
    const int64_t blocks = divide_up(l->args.delegates.pitch / l->args.beta, subranges_of_block);
    struct launch_grid grid =
        grid_of(call, blocks, greatest(divide_up(sms * blocks_per_sm, rows), 1), threads);
    grid.rows = (uint32_t)least(rows, DRTOPK_GRID_ROWS);
    return kernels_of_width[width_of(plan)]->launch(kernel, &grid, &l->args);
}

/* Of so many subranges a block has one for each thread, or one at least for each warp. */
static int make_delegates(const struct call *call, const struct layout *l, bool coalesced) {
    if (!coalesced) {
        return launch_kernel(call, l, DRTOPK_BY_WARP, DRTOPK_THREADS / 32, DRTOPK_THREADS,
                             DRTOPK_BLOCKS_PER_SM);
    }
    TOPK_REACHED(REACHED_DRTOPK_COALESCED);
    return launch_kernel(call, l, DRTOPK_BY_THREAD, DRTOPK_COALESCED_THREADS, DRTOPK_COALESCED_THREADS,
                         DRTOPK_COALESCED_BLOCKS_PER_SM);
}

/* A block for each row. */
static int launch_last(const struct call *call, const struct layout *l) {
    const struct launch_grid grid = grid_of(call, call->plan->problem.rows, DRTOPK_GRID_ROWS, DRTOPK_TILE);
    return kernels_of_width[width_of(call->plan)]->launch(DRTOPK_LAST, &grid, &l->args);
}

static int run_first(const struct call *call, const struct layout *l) {
    struct call first = topk_subcall_call(&l->first, call);
    first.input = (topk_input){.size = sizeof first.input,
                               .values = l->args.delegates.keys,
                               .lengths = l->args.delegates.lengths,
                               .k = l->args.delegates.needed};
    first.values = l->args.first.selects ? l->args.first.selected : l->args.first.keys;
    first.indices = l->args.first.selected_slots;
    first.better = l->args.first.better;
    first.equal = l->args.first.equal;
    const int error = l->first.method->run(&first);
    return error != 0 || !l->args.first.selects ? error : launch_last(call, l);
}

static int run_second(const struct call *call, const struct layout *l) {
    struct call second = topk_subcall_call(&l->second, call);
    second.input = (topk_input){.size = sizeof second.input,
                                .values = l->elements,
                                .indices = l->indices,
                                .lengths = l->args.concatenated_lengths,
                                .k = l->args.delegates.asked};
    if (call->plan->operation == TOPK_OPERATION_KTH) {
        second.values = l->args.kth.values;
        second.equal = NULL;
    }
    return l->second.method->run(&second);
}

static int run(const struct call *call) {
    const struct strategy s = topk_cuda_drtopk_strategy(call->context, call->plan);
    struct layout l = topk_cuda_drtopk_lay_out(call->context, call->plan, &s, call->workspace);
    if (s.is_base) {
        const struct call base = topk_subcall_call(&l.base, call);
        TOPK_REACHED(REACHED_DRTOPK_BASE_ALONE);
        return l.base.method->run(&base);
    }
    l.args.rows = row_args_of(call);
    l.args.rows.out_values = l.elements;
    l.args.rows.out_indices = l.indices;
    l.args.exponent = s.exponent;
    l.args.beta = s.beta;
    l.args.tile = (uint32_t)s.tile;
    l.args.filters = s.filters;
    l.args.kth = kth_outputs_of(call);
    l.args.kth.values = call->values != NULL ? call->values : l.kth_values;
    int error = topk_device_zero(call->stream, l.zeroed, l.zeroed_bytes);
    error = error != 0 ? error : make_delegates(call, &l, s.coalesced);
    error = error != 0 ? error : run_first(call, &l);
    error = error != 0
                ? error
                : launch_kernel(call, &l, DRTOPK_CONCATENATE, s.tile, DRTOPK_TILE, DRTOPK_TILE_BLOCKS_PER_SM);
    error = error != 0 ? error : run_second(call, &l);
    if (error == 0 && call->equal != NULL) {
        error = launch_kernel(call, &l, DRTOPK_EQUAL, s.tile, DRTOPK_TILE, DRTOPK_TILE_BLOCKS_PER_SM);
    }
    return error;
}

static int prepare(const topk_context *context) {
    int error = 0;
    (void)context;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels_of_width[width]->prepare();
    }
    return error;
}

const struct method topk_cuda_drtopk = {.name = "drtopk",
                                        .operations = SELECTS,
                                        .knobs = topk_cuda_drtopk_knobs,
                                        .refuse = refuse,
                                        .cost_us = cost_us,
                                        .workspace_bytes = workspace_bytes,
                                        .prepare = prepare,
                                        .run = run};
