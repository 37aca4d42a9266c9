/* SPDX-License-Identifier: Apache-2.0
 * What a call of route launches: one kernel. It needs no workspace. */
#include "../methods.h"

#include "../leaf.h"
#include "kernels.h"

static const struct route_kernels *const kernels[WIDTHS] = {
    &topk_cuda_route_kernels_8, &topk_cuda_route_kernels_16, &topk_cuda_route_kernels_32,
    &topk_cuda_route_kernels_64};

/* In the order of preference: a problem is served by the first class that takes it. */
static const struct row_class {
    int64_t lanes, items;
    int64_t results_max, rows_min;
} classes[ROUTE_CLASSES] = {{ROUTE_LANES_0, ROUTE_ITEMS_0, ROUTE_FEW_RESULTS, 0},
                            {ROUTE_LANES_1, ROUTE_ITEMS_1, ROUTE_FEW_RESULTS, ROUTE_MANY_ROWS},
                            {ROUTE_LANES_2, ROUTE_ITEMS_2, ROUTE_FEW_RESULTS, 0},
                            {ROUTE_LANES_3, ROUTE_ITEMS_3, ROUTE_K_MAX, 0},
                            {ROUTE_LANES_4, ROUTE_ITEMS_4, ROUTE_K_MAX, 0},
                            {ROUTE_LANES_5, ROUTE_ITEMS_5, ROUTE_K_MAX, 0}};

/* What is decided, once. */
struct shape {
    const struct route_kernels *kernels;
    uint32_t classes;   /* a bit for each that takes such rows */
    bool are_groups;    /* of 16 bytes, if the first row is aligned to them */
    int64_t blocks_max; /* of rows that are loaded ahead: all are resident */
};

static bool takes(const struct row_class *c, const topk_problem *p) {
    return p->length_max <= c->lanes * c->items && p->k_max <= c->results_max && p->rows >= c->rows_min;
}

static struct shape shape_of(const topk_context *context, const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    const uint64_t bytes = plan->element_bytes;
    const int64_t of_multiprocessor = bytes == 8 ? ROUTE_WIDE_BLOCKS_AHEAD : ROUTE_BLOCKS_AHEAD;
    struct shape s = {
        .kernels = kernels[width_of(plan)],
        .are_groups = (uint64_t)p->row_stride * bytes % 16 == 0 && (uint64_t)p->length_max * bytes % 16 == 0,
        .blocks_max = least(of_multiprocessor * device_of(context)->sms, ROUTE_GRID_BLOCKS_AHEAD)};
    for (uint32_t i = 0; i < ROUTE_CLASSES; i++) {
        s.classes |= (uint32_t)takes(&classes[i], p) << i;
    }
    return s;
}

/* A model, not a fit: only this method routes. */
static void decide(const topk_context *context, const struct plan *plan, struct room *room,
                   struct decision *decision) {
    struct shape *s = topk_room_take(room, sizeof *s);
    *s = shape_of(context, plan);
    decision->launches = 1;
    decision->cost_us = topk_cuda_costs.launch_us +
                        work_us(context, (double)plan->problem.rows, 1 / topk_cuda_costs.route.row_us);
    decision->own = s;
}

/* ---- Running ---- */

/* The first class that takes the problem and its groups, or else the problem. The last takes all problems.
 * Fills the arguments that depend on the class. */
static uint32_t choose_class(const struct call *call, struct route_args *args) {
    const struct shape *s = call->decision->own;
    const bool is_aligned = s->are_groups && (uintptr_t)args->rows.values % 16 == 0;
    uint32_t chosen = ROUTE_CLASSES;
    for (uint32_t i = ROUTE_CLASSES; i-- > 0;) {
        const uint32_t pieces = args->groups == 0 ? 0 : s->kernels->pieces_of_group(args, i);
        const bool fits = pieces != 0 || args->groups == 0;
        const bool serves =
            (s->classes >> i & 1) != 0 && (i != ROUTE_CLASS_AHEAD || (is_aligned && args->wanted != 0));
        if (serves && (fits || args->pieces_of_group == 0)) {
            chosen = i;
            args->pieces_of_group = pieces;
        }
    }
    if (args->pieces_of_group != 0) {
        args->piece_reciprocal = (1u << ROUTE_RECIPROCAL_BITS) / args->pieces_of_group + 1;
    }
    args->has_biases = args->by_sigmoid || args->bias != NULL ||
                       call->plan->problem.length_max < classes[chosen].lanes * classes[chosen].items;
    return chosen;
}

static struct route_args args_of(const struct call *call) {
    const topk_routing *routing = call->routing;
    const topk_problem *p = &call->plan->problem;
    const uint32_t experts = (uint32_t)p->length_max, groups = experts == 0 ? 0 : (uint32_t)routing->groups;
    struct route_args args = {.rows = row_args_of(call),
                              .bias = routing->bias,
                              .weights = call->weights,
                              .groups = groups,
                              .by_sigmoid = routing->score == TOPK_SCORE_SIGMOID,
                              .weigh_sigmoid = routing->weighing == TOPK_WEIGH_SIGMOID,
                              .nan_key = route_nan_key(p->nan),
                              .factor = routing->factor,
                              .format = topk_logit_format(p->type)};
    int64_t choosable = experts;
    if (groups != 0) {
        args.group_size = experts / groups;
        args.groups_kept = (uint32_t)routing->groups_kept;
        choosable = args.groups_kept * args.group_size;
    }
    args.wanted = (uint32_t)least(p->k_max, choosable);
    return args;
}

static int run(const struct call *call) {
    const struct shape *s = call->decision->own;
    struct route_args args = args_of(call);
    const uint32_t row_class = choose_class(call, &args);
    const int64_t rows_of_block = ROUTE_THREADS / classes[row_class].lanes;
    const struct launch_grid grid =
        grid_of(call, divide_up(args.rows.rows, rows_of_block),
                row_class == ROUTE_CLASS_AHEAD ? s->blocks_max : ROUTE_GRID_BLOCKS, ROUTE_THREADS);
    return s->kernels->row(&grid, &args, row_class);
}

static int prepare(const topk_context *context) {
    int error = 0;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare();
    }
    (void)context;
    return error;
}

const struct method topk_cuda_route = {.name = "route",
                                       .operations = OPERATION_BIT(TOPK_OPERATION_ROUTE),
                                       .plan = decide,
                                       .prepare = prepare,
                                       .run = run};
