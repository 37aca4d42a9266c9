/* SPDX-License-Identifier: Apache-2.0
 * What a call of rtopk launches: one kernel, as rtopk.c has decided, and before it the reading of bounds that
 * lie on the device. A call tells whether rows are all alike, and begin where groups of 16 bytes do. */
#include "../../workspace.h"
#include "plan.h"

static struct lead_map lead_map_of(const struct plan *plan, const struct code_map *map) {
    const unsigned bits = 8 * (unsigned)plan->element_bytes, up = bits < 32 ? 32 - bits : 0;
    const uint64_t ones = topk_ones(bits);
    const uint64_t unit = bits == 64 ? 0 : 1ull << up;
    uint64_t step = unit;
    for (int64_t positions = plan->problem.length_max; positions > 1; positions = divide_up(positions, 2)) {
        step /= 2;
    }
    return (struct lead_map){.flip = (map->negative | (ones ^ map->keep)) << up,
                             .always = map->always,
                             .turn = bits == 64 ? map->turn : (map->turn + map->always) << up,
                             .sign = map->always != 0 ? UINT32_MAX : 1,
                             .unit = (uint32_t)unit,
                             .step = (uint32_t)step,
                             .lowest = (uint32_t)(bits == 64 ? map->lowest >> 32 : map->lowest << up),
                             .highest = (uint32_t)(bits == 64 ? map->highest >> 32 : map->highest << up),
                             .zeros = (uint32_t)(bits == 64 ? map->zeros >> 32 : map->zeros << up)};
}

static bool is_uniform(const struct call *call) {
    return call->input.lengths == NULL && call->input.k == NULL;
}

/* Whether rows begin at multiples of 16 bytes and consist of whole groups. */
static bool is_whole(const struct call *call, const struct rtopk_plan *decided) {
    return decided->may_be_whole && (uintptr_t)call->input.values % 16 == 0;
}

static const struct rtopk_launch *launch_of(const struct call *call, const struct rtopk_plan *decided) {
    switch (decided->alike.kernel) {
    case RTOPK_NETWORK:
        return is_uniform(call) ? &decided->alike : &decided->any;
    case RTOPK_PARTS:
        return is_uniform(call) && is_whole(call, decided) ? &decided->alike : &decided->any;
    default:
        return &decided->any;
    }
}

static struct uniform_rows uniform_of(const struct call *call, const struct rtopk_plan *decided,
                                      const struct code_map *map) {
    struct uniform_rows u = decided->uniform;
    u.has_plain_outputs = call->values != NULL && call->indices != NULL && call->input.indices == NULL &&
                          call->plan->problem.index_type == TOPK_INDEX_I32;
    u.map = lead_map_of(call->plan, map);
    return u;
}

static int run_network(const struct call *call, const struct launch_grid *grid, uint32_t network,
                       struct rtopk_args *args) {
    const struct rtopk_plan *decided = call->decision->own;
    struct uniform_rows *u = &args->uniform;
    *u = uniform_of(call, decided, &args->rows.map);
    u->is_whole = is_whole(call, decided);
    u->is_full = u->is_whole && u->is_full;
    u->group_shift = u->is_whole || args->by_position ? u->group_shift : 0;
    u->origin = (uint32_t)(call->plan->element_bytes == 8 ? u->map.turn >> 32 : u->map.turn);
    return decided->kernels->network->rows(grid, args, network);
}

static int run_approximate(const struct call *call, const struct launch_grid *grid,
                           const struct rtopk_launch *launch, const struct rtopk_args *of_row,
                           const struct predicate_args *predicate) {
    const struct rtopk_plan *decided = call->decision->own;
    const topk_problem *p = &call->plan->problem;
    struct approximate_args args = {.of_row = *of_row,
                                    .predicate = *predicate,
                                    .numbers = decided->numbers,
                                    .max_iterations = (uint32_t)least(p->max_iterations, UINT32_MAX),
                                    .epsilon = p->epsilon,
                                    .epsilon_relative = p->epsilon_relative};
    if (launch->kernel == RTOPK_APPROXIMATE) {
        return decided->kernels->approximate->row(grid, &args, launch->index);
    }
    args.of_row.uniform = uniform_of(call, decided, &of_row->rows.map);
    args.lists_numbers = decided->lists_numbers;
    return decided->kernels->approximate->parts(grid, &args, launch->index);
}

static int run_where(const struct launch_grid *grid, const struct rtopk_plan *decided,
                     const struct rtopk_args *of_row, const struct predicate_args *predicate) {
    const struct where_args args = {*of_row, *predicate};
    return decided->kernels->where->row(grid, &args, decided->any.index);
}

/* Once the bounds of a predicate have been read. */
static int run_selection(const struct call *call, const struct rtopk_launch *launch,
                         const struct launch_grid *grid, struct rtopk_args *args,
                         const struct predicate_args *predicate) {
    const struct rtopk_plan *decided = call->decision->own;
    switch (launch->kernel) {
    case RTOPK_WHERE:
        return run_where(grid, decided, args, predicate);
    case RTOPK_UNEVEN:
        return decided->kernels->plain->uneven(grid, args);
    case RTOPK_NETWORK:
        return run_network(call, grid, launch->index, args);
    case RTOPK_APPROXIMATE:
    case RTOPK_PARTS:
        return run_approximate(call, grid, launch, args, predicate);
    default:
        return decided->kernels->plain->row(grid, args, launch->index);
    }
}

int topk_cuda_rtopk_run(const struct call *call) {
    const struct plan *plan = call->plan;
    const struct rtopk_plan *decided = call->decision->own;
    const struct rtopk_launch *launch = launch_of(call, decided);
    const struct launch_grid grid = grid_of(call, launch->blocks, INT32_MAX, launch->threads);
    struct predicate_args predicate = {.is_given = false};
    int error = 0;
    if (decided->is_empty) {
        return 0;
    }
    struct rtopk_args args = {.rows = row_args_with(call, &decided->order.map),
                              .decode = decided->order,
                              .kth = kth_outputs_of(call),
                              .is_kth = plan->operation == TOPK_OPERATION_KTH,
                              .is_sorted = launch->is_sorted,
                              .by_position = is_by_position(plan),
                              .slots = launch->slots,
                              .entries = launch->entries};
    if (has_predicate(plan)) {
        struct arena arena = arena_over(call->workspace);
        struct match *found = arena_take(&arena, 1, sizeof *found);
        error = topk_cuda_take_predicate(call, found, &predicate);
    }
    return error != 0 ? error : run_selection(call, launch, &grid, &args, &predicate);
}
