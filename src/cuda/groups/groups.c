/* SPDX-License-Identifier: Apache-2.0
 * select_by on a GPU, from two selections: of all group numbers, the smallest first, which puts the elements
 * of each group together, in their order in the input; and of each group's elements, as rows. Between them
 * one kernel finds where groups begin, and one moves the elements. */
#include "../../subcall.h"
#include "../../workspace.h"
#include "../leaf.h"
#include "../methods.h"
#include "kernels.h"

static const struct groups_kernels *const kernels[WIDTHS] = {
    &topk_cuda_groups_kernels_8, &topk_cuda_groups_kernels_16, &topk_cuda_groups_kernels_32,
    &topk_cuda_groups_kernels_64};

struct own {
    struct subcall numbers, rows;
};

/* What is in the workspace. The selections do not overlap in time, so they have one part of it. */
struct layout {
    void *numbers, *indices, *moved;
    int64_t *offsets, *k;
    void *inner;
    size_t bytes;
};

static struct layout lay_out(const struct plan *plan, const struct own *own, void *workspace) {
    struct arena arena = arena_over(workspace);
    const size_t n = plan->input_elements, groups = (size_t)plan->problem.rows;
    const size_t numbers_bytes = own->numbers.decision.workspace_bytes,
                 rows_bytes = own->rows.decision.workspace_bytes;
    struct layout l = {.numbers = arena_take(&arena, n, plan->extent_bytes)};
    l.indices = arena_take(&arena, n, plan->index_bytes);
    l.moved = arena_take(&arena, n, plan->element_bytes);
    l.offsets = arena_take(&arena, groups + 1, sizeof *l.offsets);
    l.k = arena_take(&arena, groups, sizeof *l.k);
    l.inner = arena_take(&arena, numbers_bytes > rows_bytes ? numbers_bytes : rows_bytes, 1);
    l.bytes = arena_bytes(&arena);
    return l;
}

/* All group numbers, in ascending order, and their positions. */
static topk_problem problem_of_numbers(const struct plan *plan) {
    topk_problem p = TOPK_PROBLEM_INIT;
    p.type = plan->extent_bytes == 8 ? TOPK_I64 : TOPK_I32;
    p.index_type = plan->problem.index_type;
    p.direction = TOPK_SMALLEST;
    p.length_max = p.k_max = (int64_t)plan->input_elements;
    p.index_base = plan->problem.index_base;
    return p;
}

/* A row of each group's elements, whose indices come from an array. */
static topk_problem problem_of_rows(const struct plan *plan) {
    topk_problem p = plan->problem;
    p.shape = TOPK_SHAPE_CSR;
    p.length_max = p.elements_max = (int64_t)plan->input_elements;
    p.row_stride = p.index_base = 0;
    p.extent_type = TOPK_INDEX_I64;
    p.workspace_limit = 0;
    p.method = p.tuning = NULL;
    return p;
}

static void decide(const topk_context *context, const struct plan *plan, struct room *room,
                   struct decision *decision) {
    topk_problem numbers = problem_of_numbers(plan), rows = problem_of_rows(plan);
    const size_t limit = plan->problem.workspace_limit;
    struct own *own = topk_room_take(room, sizeof *own);
    if (limit != 0) { /* what the selections share */
        own->numbers.decision.workspace_bytes = own->rows.decision.workspace_bytes = 0;
        const size_t besides = lay_out(plan, own, NULL).bytes;
        numbers.workspace_limit = rows.workspace_limit = limit > besides ? limit - besides : 1;
    }
    if (topk_subcall_choose(context, TOPK_OPERATION_SELECT, &numbers, room, &own->numbers) != TOPK_OK ||
        topk_subcall_choose(context, TOPK_OPERATION_SELECT, &rows, room, &own->rows) != TOPK_OK) {
        decision->cannot = "no selection serves the elements of groups";
        return;
    }
    const double moved_bytes =
        (double)plan->input_elements * (double)(2 * plan->element_bytes + plan->index_bytes);
    decision->own = own;
    decision->launches = own->numbers.decision.launches + own->rows.decision.launches + 2;
    decision->cost_us = own->numbers.decision.cost_us + own->rows.decision.cost_us +
                        2 * topk_cuda_costs.launch_us +
                        move_us(context, moved_bytes, topk_cuda_costs.merge.bytes_per_us);
    decision->workspace_bytes = lay_out(plan, own, NULL).bytes;
}

static struct groups_args args_of(const struct call *call, const struct layout *l) {
    const struct plan *plan = call->plan;
    return (struct groups_args){.elements = (int64_t)plan->input_elements,
                                .groups = plan->problem.rows,
                                .base = plan->problem.index_base,
                                .k_max = plan->problem.k_max,
                                .wide_numbers = plan->extent_bytes == 8,
                                .wide_indices = plan->index_bytes == 8,
                                .numbers = l->numbers,
                                .indices = l->indices,
                                .values = call->input.values,
                                .given = call->input.indices,
                                .k = call->input.k,
                                .moved = l->moved,
                                .offsets = l->offsets,
                                .own_k = l->k,
                                .counts = call->counts,
                                .condition = call->condition};
}

static struct launch_grid grid_for(const struct call *call, int64_t items) {
    const int64_t most = GROUPS_BLOCKS_PER_SM * (int64_t)device_of(call->context)->sms;
    return grid_of(call, divide_up(items, GROUPS_THREADS), most, GROUPS_THREADS);
}

/* Puts the elements of each group together. */
static int arrange(const struct call *call, const struct own *own, const struct layout *l) {
    const struct groups_args args = args_of(call, l);
    const struct groups_kernels *k = kernels[width_of(call->plan)];
    const struct launch_grid of_groups = grid_for(call, args.groups + 1),
                             of_elements = grid_for(call, args.elements);
    struct call numbers = topk_subcall_call(call, &own->numbers, l->inner);
    int error = 0;
    numbers.input = (topk_input){.values = call->input.groups};
    numbers.values = l->numbers;
    numbers.indices = l->indices;
    numbers.counts = NULL;
    if (args.elements > 0) {
        error = own->numbers.decision.run(&numbers);
        error = error != 0 ? error : k->gather(&of_elements, &args);
    }
    return error != 0 ? error : k->bounds(&of_groups, &args);
}

static int run(const struct call *call) {
    const struct own *own = call->decision->own;
    const struct layout l = lay_out(call->plan, own, call->workspace);
    const int error = arrange(call, own, &l);
    struct call rows = topk_subcall_call(call, &own->rows, l.inner);
    rows.input = (topk_input){.values = l.moved, .indices = l.indices, .offsets = l.offsets};
    rows.input.k = call->input.k == NULL ? NULL : l.k;
    rows.counts = NULL;
    return error != 0 || call->plan->output_elements == 0 ? error : own->rows.decision.run(&rows);
}

static int prepare(const topk_context *context) {
    int error = 0;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare();
    }
    (void)context;
    return error;
}

const struct method topk_cuda_groups = {.name = "groups",
                                        .operations = OPERATION_BIT(TOPK_OPERATION_SELECT_BY),
                                        .plan = decide,
                                        .prepare = prepare,
                                        .run = run};
