/* SPDX-License-Identifier: Apache-2.0
 * The method for what a predicate alone decides: where, count and mask, each in one pass over the
 * input. */
#include "../methods.h"

#include "../../context.h"
#include "../../workspace.h"
#include "../team.h"
#include "job.h"

struct own {
    int masks;   /* that there is room for: each thread has its own */
    int threads; /* that there is work for */
    int64_t unit_elements;
    bool joins; /* rows follow each other so closely that no element lies outside of them, if all are full */
};

static void plan_compact(const topk_context *context, const struct plan *plan, struct room *room,
                         struct decision *decision) {
    const topk_problem *p = &plan->problem;
    const int most = threads_within_limit(plan, context->threads, sizeof(struct unit_masks));
    struct own *own = topk_room_take(room, sizeof *own);
    struct arena arena = arena_over(NULL);
    (void)arena_take(&arena, (size_t)most, sizeof(struct unit_masks));
    *own = (struct own){.masks = most,
                        .threads = plan->input_elements >= TEAM_ELEMENTS_MIN ? most : 1,
                        .unit_elements = topk_cpu_unit_elements(plan, team_size(most, plan->input_elements)),
                        .joins = plan->operation == TOPK_OPERATION_MASK && p->shape == TOPK_SHAPE_STRIDED &&
                                 p->row_stride <= p->length_max};
    decision->own = own;
    decision->cost_us =
        5.0 + (double)plan->input_elements * (double)plan->element_bytes / 2e4 / context->threads;
    decision->workspace_bytes = arena_bytes(&arena);
}

static int run(const struct call *call) {
    const struct own *own = call->decision->own;
    const topk_operation operation = call->plan->operation;
    const int threads = threads_here(call->context, own->threads);
    const struct matcher matcher = topk_cpu_matcher_of(call);
    const bool joined = own->joins && call->input.lengths == NULL && !matcher.by_row;
    struct arena arena = arena_over(call->workspace);
    struct job job = {
        .call = call,
        .matcher = matcher,
        .units = topk_cpu_units_of(call, own->unit_elements, joined, threads > 1),
        .masks = arena_take(&arena, (size_t)own->masks, sizeof(struct unit_masks)),
        .threads = threads,
    };
    if (operation == TOPK_OPERATION_WHERE) {
        topk_cpu_compact_where(&job);
    } else if (operation == TOPK_OPERATION_COUNT) {
        topk_cpu_compact_count(&job);
    } else {
        topk_cpu_compact_mask(&job);
    }
    return 0;
}

const struct method topk_cpu_compact = {
    .name = "compact", .operations = COMPACTS, .plan = plan_compact, .run = run};
