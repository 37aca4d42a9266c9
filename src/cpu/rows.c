/* SPDX-License-Identifier: Apache-2.0
 * The method for many short rows: the threshold of one row finds the hits of the next, or else a bisection of
 * its keys in the L1 cache. Hits are moved together and sorted there. Rows are dealt to the threads in
 * batches. */
#include <math.h>

#include "methods.h"

#include "row_batches.h"

static double least_us(const topk_context *context, const struct plan *plan) {
    return plan->problem.length_max > SHORT_ROW_MAX ? INFINITY : topk_cpu_row_batches_us(context, plan);
}

static void plan_rows(const topk_context *context, const struct plan *plan, struct room *room,
                      struct decision *decision) {
    if (plan->problem.length_max > SHORT_ROW_MAX) {
        decision->cannot = "rows are longer than its buffers in cache";
        return;
    }
    struct row_batches *own = topk_room_take(room, sizeof *own);
    topk_cpu_row_batches_plan(context, plan, own, decision);
    decision->own = own;
}

static int run(const struct call *call) {
    topk_cpu_row_batches_run(call, call->decision->own, NULL);
    return 0;
}

const struct method topk_cpu_rows = {
    .name = "rows", .operations = SELECTS_KTH_WHERE, .least_us = least_us, .plan = plan_rows, .run = run};
