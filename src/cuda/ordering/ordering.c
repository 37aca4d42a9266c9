/* SPDX-License-Identifier: Apache-2.0 */
#include "ordering.h"

#include <limits.h>
#include <math.h>

#include "../../choose.h"
#include "../../subcall.h"
#include "../../workspace.h"
#include "../leaf.h"
#include "kernels.h"

/* The clusters that sort a call's lists. */
struct shape {
    int64_t threads; /* of a block; 0: no cluster holds a list */
    int64_t cluster; /* blocks */
    double us;       /* what they are expected to take */
};

struct strategy {
    struct subcall select; /* the method's own selection, in any order */
    struct subcall sort;   /* of positions, where no cluster holds a list */
    struct shape shape;
};

/* Lists have k_max slots for each row. */
struct layout {
    void *elements, *positions;
    void *sorted;        /* positions, where no cluster holds a list */
    void *select, *sort; /* workspaces */
};

_Static_assert((int)ORDERING_CLUSTER_MAX == (int)DEVICE_CLUSTER_MAX, "the device knows of all clusters");

static const struct ordering_kernels *const kernels[WIDTHS] = {
    &topk_cuda_ordering_kernels_8, &topk_cuda_ordering_kernels_16, &topk_cuda_ordering_kernels_32,
    &topk_cuda_ordering_kernels_64};

/* ---- Clusters ---- */

static int64_t results_of(const struct plan *plan) {
    return least(plan->problem.k_max, plan->problem.length_max);
}

/* Whether a cluster of the shape holds the entries, which splitters spread over its blocks. */
static bool holds(const struct shape *shape, int64_t results) {
    const int64_t room = shape->threads * ORDERING_HELD * shape->cluster;
    const int64_t sixteenths = shape->cluster == 1                      ? 16
                               : shape->threads == ORDERING_THREADS_MAX ? ORDERING_FILL_LARGE
                                                                        : ORDERING_FILL;
    return results <= room * sixteenths / 16;
}

/* The time of `rows` rows, in the rounds that the device needs for them. Two small blocks on one
 * multiprocessor take longer than one. */
static double shape_us(const topk_context *context, const struct plan *plan, const struct shape *shape,
                       int64_t at_once) {
    const int64_t rows = greatest(plan->problem.rows, 1), sms = device_of(context)->sms;
    const bool is_shared = rows > sms / shape->cluster && at_once * shape->cluster > sms;
    /* Results that are most of a row lie on both sides of 0, and crowd the buckets of a block's sort. */
    const double crowd = results_of(plan) > plan->problem.length_max / 2 ? topk_cuda_costs.ordering.crowd : 1;
    const double entries = crowd * (double)results_of(plan) / (double)shape->cluster;
    const double of_cluster = topk_cuda_costs.ordering.cluster_us +
                              topk_cuda_costs.ordering.block_us * (double)shape->cluster +
                              topk_cuda_costs.ordering.entry_us * entries;
    return topk_cuda_costs.ordering.launch_us +
           block_us(context, of_cluster * (double)divide_up(rows, at_once) *
                                 (is_shared ? topk_cuda_costs.ordering.shared : 1));
}

/* The shape that takes least time. */
static struct shape shape_of(const topk_context *context, const struct plan *plan) {
    const int64_t results = results_of(plan);
    struct shape best = {.threads = 0, .us = INFINITY};
    for (int large = 0; large < 2; large++) {
        const uint32_t *at_once = device_of(context)->ordering_clusters[width_of(plan)][large];
        struct shape shape = {.threads = large != 0 ? ORDERING_THREADS_MAX : ORDERING_THREADS};
        for (shape.cluster = 1; shape.cluster <= ORDERING_CLUSTER_MAX; shape.cluster++) {
            if (at_once[shape.cluster] > 0 && holds(&shape, results)) {
                shape.us = shape_us(context, plan, &shape, at_once[shape.cluster]);
                best = shape.us < best.us ? shape : best;
            }
        }
    }
    return best;
}

/* Whether some shape does: the largest cluster that the device holds does, or none. */
static bool is_held(const topk_context *context, const struct plan *plan) {
    const uint32_t(*at_once)[DEVICE_CLUSTER_MAX + 1] = device_of(context)->ordering_clusters[width_of(plan)];
    struct shape shape = {.threads = ORDERING_THREADS_MAX, .cluster = ORDERING_CLUSTER_MAX};
    while (shape.cluster > 1 && at_once[1][shape.cluster] == 0) {
        shape.cluster--;
    }
    return at_once[1][shape.cluster] > 0 && holds(&shape, results_of(plan));
}

bool topk_cuda_can_order(const topk_context *context, const struct plan *plan) {
    return wants_positions(plan) || (plan->problem.order == TOPK_ORDER_BEST_FIRST &&
                                     !operation_is_kth(plan->operation) && is_held(context, plan));
}

bool topk_cuda_orders_beyond(const topk_context *context, const struct plan *plan, int64_t sorted_max) {
    return plan->problem.order == TOPK_ORDER_BEST_FIRST && results_of(plan) > sorted_max &&
           topk_cuda_can_order(context, plan);
}

double topk_cuda_ordering_least_us(const topk_context *context) {
    return topk_cuda_costs.ordering.launch_us + block_us(context, topk_cuda_costs.ordering.cluster_us);
}

/* ---- Workspace ---- */

/* Positions have 4 bytes wherever these hold them, whatever the indices have. */
static topk_index_type list_index_type(const struct plan *plan) {
    return plan->problem.length_max <= INT32_MAX ? TOPK_INDEX_I32 : TOPK_INDEX_I64;
}

static struct layout lay_out(struct arena *arena, const struct plan *plan, const struct strategy *s) {
    const bool is_on_chip = s->shape.threads > 0;
    const size_t position_bytes = list_index_type(plan) == TOPK_INDEX_I32 ? 4 : 8;
    struct layout l = {.elements = NULL};
    l.positions = arena_take(arena, plan->output_elements, position_bytes);
    if (!wants_positions(plan)) {
        l.elements = arena_take(arena, plan->output_elements, plan->element_bytes);
    }
    if (!is_on_chip) {
        l.sorted = arena_take(arena, plan->output_elements, position_bytes);
        l.sort = arena_take(arena, 1, s->sort.decision.workspace_bytes);
    }
    l.select = arena_take(arena, 1, s->select.decision.workspace_bytes);
    return l;
}

static size_t bytes_of(const struct plan *plan, const struct strategy *s) {
    struct arena arena = arena_over(NULL);
    (void)lay_out(&arena, plan, s);
    return arena_bytes(&arena);
}

/* ---- Launches ---- */

static int sort_positions(const struct call *call, const struct strategy *s, const struct layout *l) {
    struct call sort = topk_subcall_call(call, &s->sort, l->sort);
    sort.input = (topk_input)TOPK_INPUT_INIT;
    sort.input.values = l->positions;
    sort.predicate = NULL;
    sort.values = l->sorted;
    sort.indices = NULL;
    sort.base = 0;
    return s->sort.decision.run(&sort);
}

/* Puts the lists in order. */
static int order_lists(const struct call *call, const struct strategy *s, const struct layout *l) {
    const struct plan *plan = call->plan;
    const struct ordering_kernels *launch = kernels[width_of(plan)];
    struct ordering_args args = {.rows = row_args_of(call),
                                 .elements = l->elements,
                                 .positions = l->positions,
                                 .wide = list_index_type(plan) == TOPK_INDEX_I64,
                                 .by_position = wants_positions(plan),
                                 .may_be_fewer = has_predicate(plan),
                                 .two_words =
                                     plan->element_bytes == 8 || list_index_type(plan) == TOPK_INDEX_I64,
                                 .seed = (uint32_t)call->context->seed};
    args.decode = topk_decode_args(&plan->order, &args.rows.map);
    if (s->shape.threads > 0) {
        struct launch_grid grid = grid_of(call, plan->problem.rows, ORDERING_GRID_ROWS, s->shape.threads);
        grid.dependent = device_of(call->context)->dependent_launch;
        return launch->sort(&grid, &args, (uint32_t)s->shape.cluster);
    }
    args.positions = l->sorted;
    const struct launch_grid grid = grid_of(
        call, divide_up((int64_t)plan->output_elements, ORDERING_GATHER_THREADS),
        (int64_t)device_of(call->context)->sms * (2048 / ORDERING_GATHER_THREADS), ORDERING_GATHER_THREADS);
    const int error = sort_positions(call, s, l);
    return error != 0 ? error : launch->gather(&grid, &args);
}

static int run_ordered(const struct call *call) {
    const struct strategy *s = call->decision->own;
    struct arena arena = arena_over(call->workspace);
    const struct layout l = lay_out(&arena, call->plan, s);
    if (call->plan->output_elements == 0) {
        return 0;
    }
    struct call select = topk_subcall_call(call, &s->select, l.select);
    select.input.indices = NULL;
    select.values = l.elements;
    select.indices = l.positions;
    select.base = 0;
    select.is_followed = true;
    const int error = s->select.decision.run(&select);
    return error != 0 ? error : order_lists(call, s, &l);
}

/* ---- Decision ---- */

/* Positions as elements of rows that end with padding, the greatest of all. */
static topk_problem positions_of(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    topk_problem positions = TOPK_PROBLEM_INIT;
    positions.type = list_index_type(plan) == TOPK_INDEX_I32 ? TOPK_U32 : TOPK_U64;
    positions.index_type = TOPK_INDEX_I64;
    positions.direction = TOPK_SMALLEST;
    positions.rows = p->rows;
    positions.length_max = results_of(plan);
    positions.row_stride = p->k_max;
    positions.k_max = p->k_max;
    positions.workspace_limit = p->workspace_limit;
    return positions;
}

/* The method sort, which serves every selection. */
static const struct method *reference_of(const topk_context *context) {
    return context->backend->methods[context->backend->method_count - 1];
}

/* In any order, into lists. The limit leaves the method what the rest does not need. */
static void decide_selection(const topk_context *context, const struct plan *plan, struct room *room,
                             struct strategy *s) {
    const size_t limit = plan->problem.workspace_limit;
    struct plan *inner = &s->select.plan;
    *inner = *plan;
    inner->problem.order = TOPK_ORDER_ANY;
    inner->problem.index_type = list_index_type(plan);
    inner->problem.index_base = 0;
    inner->index_bytes = inner->problem.index_type == TOPK_INDEX_I32 ? 4 : 8;
    if (limit != 0) {
        const size_t rest = bytes_of(plan, s);
        inner->problem.workspace_limit = rest < limit ? limit - rest : 1;
    }
    topk_decide(context, inner, s->select.method, room, &s->select.decision);
}

void topk_cuda_plan_ordered(const topk_context *context, const struct plan *plan, const struct method *method,
                            struct room *room, struct decision *decision) {
    struct strategy *s = topk_room_take(room, sizeof *s);
    *s = (struct strategy){
        .select.method = method, .sort.method = reference_of(context), .shape = shape_of(context, plan)};
    if (s->shape.threads == 0) {
        const topk_problem positions = positions_of(plan);
        if (topk_plan_make(TOPK_OPERATION_SELECT, &positions, &s->sort.plan) != TOPK_OK) {
            decision->cannot = "there are too many results to put in order";
            return;
        }
        topk_decide(context, &s->sort.plan, s->sort.method, room, &s->sort.decision);
    }
    decide_selection(context, plan, room, s);
    if (s->select.decision.cannot != NULL) {
        decision->cannot = s->select.decision.cannot;
        return;
    }
    const bool is_on_chip = s->shape.threads > 0;
    const double moved =
        (double)plan->output_elements * 2 * (double)(plan->index_bytes + plan->element_bytes);
    const int after = is_on_chip ? 1 : s->sort.decision.launches + 1;
    decision->variant = s->select.decision.variant;
    decision->launches = (int)least((int64_t)s->select.decision.launches + after, INT_MAX / 4);
    decision->cost_us = s->select.decision.cost_us +
                        (is_on_chip ? s->shape.us
                                    : s->sort.decision.cost_us + topk_cuda_costs.launch_us +
                                          move_us(context, moved, topk_cuda_costs.sort.moved_bytes_per_us));
    decision->workspace_bytes = bytes_of(plan, s);
    decision->own = s;
    decision->run = run_ordered;
}

int topk_cuda_prepare_ordering(const topk_context *context) {
    struct device_info *device = &((struct cuda_leaf *)context->leaf)->device;
    int error = 0;
    for (int width = 0; width < WIDTHS && error == 0; width++) {
        error = kernels[width]->prepare((uint32_t)device->shared_bytes_max, device->ordering_clusters[width]);
    }
    return error;
}
