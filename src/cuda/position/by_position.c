/* SPDX-License-Identifier: Apache-2.0 */
#include "by_position.h"

#include <limits.h>

#include "../../choose.h"
#include "../../subcall.h"
#include "../../workspace.h"
#include "../leaf.h"
#include "kernels.h"

/* The method's own selection, and the sort of its positions. */
struct strategy {
    struct subcall select, sort;
};

struct layout {
    void *positions, *sorted; /* rows x k_max, as wide as indices */
    void *select, *sort;      /* workspaces */
};

static const struct position_kernels *const kernels[WIDTHS] = {
    &topk_cuda_position_kernels_8, &topk_cuda_position_kernels_16, &topk_cuda_position_kernels_32,
    &topk_cuda_position_kernels_64};

static struct layout lay_out(struct arena *arena, const struct plan *plan, const struct strategy *s) {
    struct layout l;
    l.positions = arena_take(arena, plan->output_elements, plan->index_bytes);
    l.sorted = arena_take(arena, plan->output_elements, plan->index_bytes);
    l.sort = arena_take(arena, 1, s->sort.decision.workspace_bytes);
    l.select = arena_take(arena, 1, s->select.decision.workspace_bytes);
    return l;
}

static size_t bytes_of(const struct plan *plan, const struct strategy *s) {
    struct arena arena = arena_over(NULL);
    (void)lay_out(&arena, plan, s);
    return arena_bytes(&arena);
}

static int run_by_position(const struct call *call) {
    const struct strategy *s = call->decision->own;
    const struct plan *plan = call->plan;
    struct arena arena = arena_over(call->workspace);
    const struct layout l = lay_out(&arena, plan, s);
    if (plan->output_elements == 0) {
        return 0;
    }
    struct call select = topk_subcall_call(call, &s->select, l.select);
    select.input.indices = NULL;
    select.values = NULL;
    select.indices = l.positions;
    select.base = -plan->problem.index_base;
    int error = s->select.decision.run(&select);
    struct call sort = topk_subcall_call(call, &s->sort, l.sort);
    sort.input = (topk_input)TOPK_INPUT_INIT;
    sort.input.values = l.positions;
    sort.predicate = NULL;
    sort.values = l.sorted;
    sort.indices = NULL;
    sort.base = 0;
    error = error != 0 ? error : s->sort.decision.run(&sort);
    const struct position_args args = {.rows = row_args_of(call), .positions = l.sorted};
    const struct launch_grid grid =
        grid_of(call, divide_up((int64_t)plan->output_elements, POSITION_THREADS),
                (int64_t)device_of(call->context)->sms * (2048 / POSITION_THREADS), POSITION_THREADS);
    return error != 0 ? error : kernels[width_of(plan)]->gather(&grid, &args);
}

/* Positions as elements of rows that end with padding, the greatest of all. */
static topk_problem positions_of(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    topk_problem positions = TOPK_PROBLEM_INIT;
    positions.type = p->index_type == TOPK_INDEX_I32 ? TOPK_U32 : TOPK_U64;
    positions.index_type = TOPK_INDEX_I64;
    positions.direction = TOPK_SMALLEST;
    positions.rows = p->rows;
    positions.length_max = least(p->k_max, p->length_max);
    positions.row_stride = p->k_max;
    positions.k_max = p->k_max;
    positions.workspace_limit = p->workspace_limit;
    return positions;
}

/* The method sort, which serves every selection. */
static const struct method *reference_of(const topk_context *context) {
    return context->backend->methods[context->backend->method_count - 1];
}

/* The limit leaves the method what the rest does not need. */
static void decide_selection(const topk_context *context, const struct plan *plan, struct room *room,
                             struct strategy *s) {
    const size_t limit = plan->problem.workspace_limit;
    s->select.plan = *plan;
    s->select.plan.problem.order = TOPK_ORDER_ANY;
    if (limit != 0) {
        const size_t rest = bytes_of(plan, s);
        s->select.plan.problem.workspace_limit = rest < limit ? limit - rest : 1;
    }
    topk_decide(context, &s->select.plan, s->select.method, room, &s->select.decision);
}

void topk_cuda_plan_by_position(const topk_context *context, const struct plan *plan,
                                const struct method *method, struct room *room, struct decision *decision) {
    struct strategy *s = topk_room_take(room, sizeof *s);
    const topk_problem positions = positions_of(plan);
    *s = (struct strategy){.select.method = method, .sort.method = reference_of(context)};
    if (topk_plan_make(TOPK_OPERATION_SELECT, &positions, &s->sort.plan) != TOPK_OK) {
        decision->cannot = "there are too many results to put in order";
        return;
    }
    topk_decide(context, &s->sort.plan, s->sort.method, room, &s->sort.decision);
    decide_selection(context, plan, room, s);
    if (s->select.decision.cannot != NULL) {
        decision->cannot = s->select.decision.cannot;
        return;
    }
    const double moved =
        (double)plan->output_elements * 2 * (double)(plan->index_bytes + plan->element_bytes);
    decision->variant = s->select.decision.variant;
    decision->launches =
        (int)least((int64_t)s->select.decision.launches + s->sort.decision.launches + 1, INT_MAX / 4);
    decision->cost_us = s->select.decision.cost_us + s->sort.decision.cost_us + topk_cuda_costs.launch_us +
                        move_us(context, moved, topk_cuda_costs.sort.bytes_per_us);
    decision->workspace_bytes = bytes_of(plan, s);
    decision->own = s;
    decision->run = run_by_position;
}

int topk_cuda_prepare_by_position(const topk_context *context) {
    int error = 0;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare();
    }
    (void)context;
    return error;
}
