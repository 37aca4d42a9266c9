/* SPDX-License-Identifier: Apache-2.0 */
#include "subcall.h"

#include "choose.h"

topk_status topk_subcall_decide(const topk_context *context, struct room *room, struct subcall *inner) {
    struct candidate chosen = {.method = NULL};
    const topk_status status = topk_choose_one(context, &inner->plan, room, &chosen);
    inner->method = chosen.method;
    inner->decision = chosen.decision;
    return status;
}

topk_status topk_subcall_choose(const topk_context *context, topk_operation operation,
                                const topk_problem *problem, struct room *room, struct subcall *inner) {
    const topk_status status = topk_plan_make(operation, problem, &inner->plan);
    return status != TOPK_OK ? status : topk_subcall_decide(context, room, inner);
}

void topk_subcall_decide_same(const topk_context *context, const struct plan *plan, size_t workspace_limit,
                              const struct method *method, struct room *room, struct decision *decision) {
    struct plan inner = *plan;
    inner.problem.method = inner.problem.tuning = NULL;
    inner.problem.workspace_limit = workspace_limit;
    topk_decide(context, &inner, method, room, decision);
}

struct call topk_subcall_same(const struct call *outer, const struct decision *decision, void *workspace) {
    struct call call = *outer;
    call.decision = decision;
    call.workspace = workspace;
    return call;
}

struct call topk_subcall_call(const struct call *outer, const struct subcall *inner, void *workspace) {
    struct call call = topk_subcall_same(outer, &inner->decision, workspace);
    call.plan = &inner->plan;
    return call;
}
