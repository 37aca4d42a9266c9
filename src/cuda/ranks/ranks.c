/* SPDX-License-Identifier: Apache-2.0
 * kth and kth_where with problem.ranks, by a method that knows of one rank a row: see docs/methods/ranks.md.
 *
 * Spans may overlap, so each rank becomes a row of its own, with the elements of the row that it belongs to.
 * A kernel writes their extents to the workspace. The inner call has rows x ranks rows, and its outputs are
 * the caller's as they lie. */
#include "../../choose.h"
#include "../../subcall.h"
#include "../../workspace.h"
#include "../leaf.h"
#include "../methods.h"
#include "../rows.h"
#include "kernels.h"

/* What is in the workspace: the extents of the inner rows, and what the inner call works in. */
struct layout {
    void *begins, *ends, *k;
    void *inner;
    size_t bytes;
};

static struct layout lay_out(const struct plan *inner, size_t inner_bytes, void *workspace) {
    struct arena arena = arena_over(workspace);
    const size_t rows = (size_t)inner->problem.rows, bytes = inner->extent_bytes;
    struct layout l = {.begins = arena_take(&arena, rows, bytes)};
    l.ends = arena_take(&arena, rows, bytes);
    l.k = arena_take(&arena, rows, bytes);
    l.inner = arena_take(&arena, inner_bytes, 1);
    l.bytes = arena_bytes(&arena);
    return l;
}

static void make_inner_plan(const struct plan *plan, struct plan *inner) {
    const int64_t elements = (int64_t)plan->input_elements;
    topk_problem *p = &inner->problem;
    *inner = *plan;
    p->rows *= plan->ranks; /* topk_plan_make() has found no overflow */
    p->row_stride = p->ranks = p->k_stride = 0;
    p->shape = TOPK_SHAPE_SPANS;
    /* All rows together have as many, and none lies behind them. */
    p->elements_max = elements <= INT64_MAX / plan->ranks ? elements * plan->ranks : INT64_MAX;
    if (elements > INT32_MAX) { /* strided rows may begin beyond the caller's extents */
        p->extent_type = TOPK_INDEX_I64;
        inner->extent_bytes = sizeof(int64_t);
    }
    inner->ranks = inner->k_pitch = 1;
    inner->k_entries = (size_t)p->rows;
    const size_t limit = plan_workspace_limit(plan), own = lay_out(inner, 0, NULL).bytes;
    p->workspace_limit = limit > own ? limit - own : 1;
}

static int spread(const struct call *call, const struct plan *inner, const struct layout *l) {
    struct ranks_args args = {.rows = row_args_of(call),
                              .k = call->input.k,
                              .ranks = call->plan->ranks,
                              .k_pitch = call->plan->k_pitch,
                              .wide = inner->problem.extent_type == TOPK_INDEX_I64,
                              .begins = l->begins,
                              .ends = l->ends,
                              .own_k = l->k};
    const int64_t most = RANKS_BLOCKS_PER_SM * (int64_t)device_of(call->context)->sms;
    const struct launch_grid grid =
        grid_of(call, divide_up(inner->problem.rows, RANKS_THREADS), most, RANKS_THREADS);
    args.rows.k = NULL;
    return topk_cuda_launch_ranks(&grid, &args);
}

static int run(const struct call *call) {
    const struct subcall *own = call->decision->own;
    const struct plan *inner = &own->plan;
    const struct layout l = lay_out(inner, own->decision.workspace_bytes, call->workspace);
    struct call ranks = topk_subcall_call(call, own, l.inner);
    ranks.input.lengths = ranks.input.offsets = NULL;
    ranks.input.begins = l.begins;
    ranks.input.ends = l.ends;
    ranks.input.k = call->input.k == NULL ? NULL : l.k;
    const int error = inner->problem.rows > 0 ? spread(call, inner, &l) : 0;
    return error != 0 ? error : own->decision.run(&ranks);
}

void topk_cuda_decide_ranks(const topk_context *context, const struct plan *plan, const struct method *method,
                            struct room *room, struct decision *decision) {
    struct subcall *own = topk_room_take(room, sizeof *own);
    own->method = method;
    make_inner_plan(plan, &own->plan);
    topk_decide(context, &own->plan, method, room, &own->decision);
    *decision = own->decision;
    decision->own = own;
    decision->run = run;
    decision->launches++;
    decision->cost_us += topk_cuda_costs.launch_us;
    decision->workspace_bytes = lay_out(&own->plan, own->decision.workspace_bytes, NULL).bytes;
}

int topk_cuda_prepare_ranks(const topk_context *context) {
    (void)context;
    return topk_cuda_load_ranks();
}
