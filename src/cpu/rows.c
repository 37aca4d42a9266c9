/* SPDX-License-Identifier: Apache-2.0
 * The method for many short rows: the threshold of one row finds the hits of the next, or else a bisection of
 * its keys in the L1 cache. Hits are moved together and sorted there. Rows are dealt to the threads in
 * batches. */
#include "methods.h"

#include "row_batches.h"

static const char *refuse(const topk_context *context, const struct plan *plan) {
    (void)context;
    return plan->problem.length_max > SHORT_ROW_MAX ? "rows are longer than its buffers in cache" : NULL;
}

static int run(const struct call *call) {
    topk_cpu_row_batches_run(call, NULL);
    return 0;
}

const struct method topk_cpu_rows = {.name = "rows",
                                     .operations = SELECTS_WHERE,
                                     .refuse = refuse,
                                     .cost_us = topk_cpu_row_batches_cost_us,
                                     .workspace_bytes = topk_cpu_row_batches_bytes,
                                     .run = run};
