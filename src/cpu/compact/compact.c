/* SPDX-License-Identifier: Apache-2.0
 * The method for what a predicate alone decides: where, count and mask, each in one pass over the
 * input. */
#include "../methods.h"

#include "../../context.h"
#include "../../workspace.h"
#include "../team.h"
#include "job.h"

static double cost_us(const topk_context *context, const struct plan *plan) {
    return 5.0 + (double)plan->input_elements * (double)plan->element_bytes / 2e4 / context->threads;
}

static int threads_for(const topk_context *context, const struct plan *plan) {
    return threads_within_limit(plan, context->threads, sizeof(struct unit_masks));
}

static struct unit_masks *lay_out(const topk_context *context, const struct plan *plan, struct arena *arena) {
    return arena_take(arena, (size_t)threads_for(context, plan), sizeof(struct unit_masks));
}

static size_t workspace_bytes(const topk_context *context, const struct plan *plan) {
    struct arena arena = arena_over(NULL);
    (void)lay_out(context, plan, &arena);
    return arena_bytes(&arena);
}

/* Whether rows follow each other so closely that no element lies outside of them. */
static bool rows_cover_input(const struct call *call) {
    const topk_problem *p = &call->plan->problem;
    return p->shape == TOPK_SHAPE_STRIDED && call->input.lengths == NULL && p->row_stride <= p->length_max;
}

static int run(const struct call *call) {
    const struct plan *plan = call->plan;
    const topk_operation operation = plan->operation;
    const int running = topk_context_threads(call->context), most = threads_for(call->context, plan);
    const int available = running < most ? running : most;
    const int threads = plan->input_elements >= TEAM_ELEMENTS_MIN ? available : 1;
    const bool joined = operation == TOPK_OPERATION_MASK && rows_cover_input(call);
    struct arena arena = arena_over(call->workspace);
    struct job job = {
        .call = call,
        .matcher = topk_cpu_matcher_of(call),
        .units = topk_cpu_units_of(call, team_size(available, plan->input_elements), joined),
        .masks = lay_out(call->context, plan, &arena),
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

const struct method topk_cpu_compact = {.name = "compact",
                                        .operations = COMPACTS,
                                        .cost_us = cost_us,
                                        .workspace_bytes = workspace_bytes,
                                        .run = run};
