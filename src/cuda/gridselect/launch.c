/* SPDX-License-Identifier: Apache-2.0
 * What a call of gridselect launches, and over which workspace: one kernel, as gridselect.c has decided. What
 * the blocks of a row tell each other begins as zeros. */
#include "../../workspace.h"
#include "plan.h"

struct gridselect_layout topk_cuda_gridselect_lay_out(const struct plan *plan,
                                                      const struct gridselect_shape *shape, void *workspace) {
    struct arena arena = arena_over(workspace);
    const size_t rows = (size_t)plan->problem.rows, lists = rows * (size_t)shape->parts;
    const size_t entries = lists * (size_t)shape->capacity;
    struct gridselect_layout l = {.zeroed = NULL};
    l.match = arena_take(&arena, has_predicate(plan) ? 1 : 0, sizeof *l.match);
    if (shape->parts > 1) {
        const size_t before = arena.used;
        l.zeroed = l.shared.bounds = arena_take(&arena, rows, sizeof *l.shared.bounds);
        l.shared.parts = arena_take(&arena, lists, sizeof *l.shared.parts);
        l.shared.tickets = arena_take(&arena, rows, sizeof *l.shared.tickets);
        l.shared.sent = arena_take(&arena, rows, sizeof *l.shared.sent);
        l.zeroed_bytes = arena_join(&arena, before);
        l.shared.entries = arena_take(&arena, entries, sizeof *l.shared.entries);
        l.shared.entries_low =
            arena_take(&arena, shape->two_words ? entries : 0, sizeof *l.shared.entries_low);
    }
    l.bytes = arena_bytes(&arena);
    return l;
}

int topk_cuda_gridselect_run(const struct call *call) {
    const struct plan *plan = call->plan;
    const struct gridselect_plan *decided = call->decision->own;
    const struct gridselect_shape *shape = &decided->shape;
    const struct gridselect_layout l = topk_cuda_gridselect_lay_out(plan, shape, call->workspace);
    struct launch_grid grid = grid_of(call, decided->grid_blocks, INT32_MAX, 32 * shape->warps);
    if (decided->is_empty) {
        return 0;
    }
    grid.rows = (uint32_t)decided->grid_rows;
    struct gridselect_args args = gridselect_args_of(shape);
    args.rows = row_args_of(call);
    args.seed = call->context->seed;
    args.shared = l.shared;
    int error = l.zeroed_bytes == 0 ? 0 : topk_device_zero(call->stream, l.zeroed, l.zeroed_bytes);
    if (error == 0 && has_predicate(plan)) {
        error = topk_cuda_take_predicate(call, l.match, &args.predicate);
    }
    if (error != 0) {
        return error;
    }
    return shape->is_lone ? decided->kernels->select_lone(&grid, &args)
                          : decided->kernels->select(&grid, &args, shape->two_words);
}
