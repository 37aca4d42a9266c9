/* SPDX-License-Identifier: Apache-2.0
 * What a call of resident launches: one kernel, as resident.c has decided, and before it the reading of
 * bounds that lie on the device. It needs no workspace but for these. */
#include "../../workspace.h"
#include "plan.h"

static int run_where(const struct call *call, const struct launch_grid *grid,
                     const struct resident_args *of_row, const struct resident_shape *shape) {
    const struct resident_plan *decided = call->decision->own;
    struct arena arena = arena_over(call->workspace);
    struct match *found = arena_take(&arena, 1, sizeof *found);
    struct resident_where_args args = {.of_row = *of_row};
    const int error = topk_cuda_take_predicate(call, found, &args.predicate);
    return error != 0           ? error
           : shape->cluster > 1 ? decided->kernels->cluster->where(grid, &args, (uint32_t)shape->cluster)
                                : decided->kernels->where->row(grid, &args, shape->kernel);
}

int topk_cuda_resident_run(const struct call *call) {
    const struct plan *plan = call->plan;
    const struct resident_plan *decided = call->decision->own;
    const bool is_aligned = decided->may_be_aligned && (uintptr_t)call->input.values % 16 == 0;
    const struct resident_shape *shape = &decided->shapes[is_aligned];
    if (decided->is_empty) {
        return 0;
    }
    const struct launch_grid grid = grid_of(call, plan->problem.rows, decided->grid_rows, shape->threads);
    struct resident_args args = resident_args_of(decided, shape);
    args.rows = row_args_with(call, &decided->order.map);
    if (decided->is_streamed) {
        return decided->kernels->stream->stream(&grid, &args, (uint32_t)shape->cluster);
    }
    args.decode = decided->order;
    args.kth = kth_outputs_of(call);
    return has_predicate(plan)  ? run_where(call, &grid, &args, shape)
           : shape->cluster > 1 ? decided->kernels->cluster->row(&grid, &args, (uint32_t)shape->cluster)
                                : decided->kernels->block->row(&grid, &args, shape->kernel);
}
