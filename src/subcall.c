/* SPDX-License-Identifier: Apache-2.0 */
#include "subcall.h"

#include "choose.h"

topk_status topk_subcall_decide(const topk_context *context, struct room *room, struct subcall *inner) {
    struct room none;
    struct candidate chosen = {.method = NULL};
    none.used = 0;
    const topk_status status = topk_choose_one(context, &inner->plan, room != NULL ? room : &none, &chosen);
    inner->method = chosen.method;
    inner->decision = chosen.decision;
    if (room == NULL) {
        inner->decision.own = NULL;
    }
    return status;
}

topk_status topk_subcall_choose(const topk_context *context, topk_operation operation,
                                const topk_problem *problem, struct room *room, struct subcall *inner) {
    const topk_status status = topk_plan_make(operation, problem, &inner->plan);
    return status != TOPK_OK ? status : topk_subcall_decide(context, room, inner);
}

/* Drops method and tuning, which are the outer method's. */
static void make(const topk_context *context, const struct plan *plan, const struct method *method,
                 size_t found_bytes, struct room *room, struct subcall *inner) {
    struct room none;
    none.used = 0;
    inner->method = method;
    inner->plan = *plan;
    inner->plan.problem.method = inner->plan.problem.tuning = NULL;
    inner->plan.tuning.count = 0;
    inner->plan.found_bytes = found_bytes;
    topk_decide(context, &inner->plan, method, room != NULL ? room : &none, &inner->decision);
    if (room == NULL) {
        inner->decision.own = NULL;
    }
}

void topk_subcall_same(const topk_context *context, const struct plan *plan, const struct method *method,
                       struct room *room, struct subcall *inner) {
    make(context, plan, method, 0, room, inner);
}

void topk_subcall_on_found(const topk_context *context, const struct plan *plan, const struct method *method,
                           size_t position_bytes, struct room *room, struct subcall *inner) {
    make(context, plan, method, position_bytes, room, inner);
}

struct found topk_found_take(const struct plan *plan, size_t position_bytes, struct arena *arena) {
    return (struct found){.elements = arena_take(arena, plan->output_elements, plan->element_bytes),
                          .positions = arena_take(arena, plan->output_elements, position_bytes)};
}

void topk_subcall_take(struct subcall *inner, struct arena *arena) {
    inner->workspace = arena_take(arena, 1, inner->decision.workspace_bytes);
}

struct call topk_subcall_call(const struct subcall *inner, const struct call *outer) {
    struct call call = *outer;
    call.plan = &inner->plan;
    call.decision = &inner->decision;
    call.workspace = inner->workspace;
    return call;
}
