/* SPDX-License-Identifier: Apache-2.0
 * A method inside a method: another one runs over a part of my workspace, on data that I made.
 *
 * My plan() says what is to be done, takes the room that it got itself, and keeps what comes of it:
 *
 *     status = topk_subcall_choose(context, operation, &problem, room, &own->inner);
 *
 * The function that lays out my workspace takes inner.decision.workspace_bytes of it. When my call runs, the
 * inner one is a copy of it that reads and writes other buffers. If the device is to decide whether it does
 * anything, it gets a condition:
 *
 *     struct call call = topk_subcall_call(outer, &own->inner, workspace);
 *     call.input = ...; call.values = ...; call.condition = flag;
 *     error = own->inner.decision.run(&call);
 *
 * What is to be done follows from the outer call's plan alone, so that a workspace is the same when it is
 * measured and when it is used. Lengths, offsets and k of the inner call may be on the device, as of any
 * call. */
#ifndef TOPK_SRC_SUBCALL_H
#define TOPK_SRC_SUBCALL_H

#include "method.h"

/* Must outlive the inner call, which points to plan and decision. */
struct subcall {
    const struct method *method;
    struct plan plan;
    struct decision decision;
};

/* A problem of its own, served by the method that it names, or else by the cheapest one. A method that lets
 * this function choose must not be what it chooses, or it lays itself out without end. */
topk_status topk_subcall_choose(const topk_context *context, topk_operation operation,
                                const topk_problem *problem, struct room *room, struct subcall *inner);

/* The second half of that, for an inner->plan which topk_plan_make() made, and to which the outer method may
 * have added what no caller can ask for. */
topk_status topk_subcall_decide(const topk_context *context, struct room *room, struct subcall *inner);

/* The outer call's own problem, served by `method` with another limit of its workspace. All else of the plan
 * counts but method and tuning. The call runs with the outer plan, so the decision is all there is to keep.
 */
void topk_subcall_decide_same(const topk_context *context, const struct plan *plan, size_t workspace_limit,
                              const struct method *method, struct room *room, struct decision *decision);

/* A copy of the outer call, with another decision about its problem, and the workspace for that. */
struct call topk_subcall_same(const struct call *outer, const struct decision *decision, void *workspace);

/* A copy of the outer call, with the inner plan and a workspace for that. */
struct call topk_subcall_call(const struct call *outer, const struct subcall *inner, void *workspace);

#endif
