/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "run.h"

static void make_outputs(run *r) {
    r->outputs[0] = run_output(true, r->problem.rows, sizeof(int64_t));
}

static topk_status call(topk_context *context, run *r, const topk_input *input) {
    return topk_count(context, &r->problem, input, &r->predicate, r->outputs[0].data, r->workspace.data,
                      r->workspace.bytes, device_stream());
}

static void give(const run *r, topk_input *input, topk_output *output) {
    input->predicate = &r->predicate;
    output->counts = r->outputs[0].data;
}

static run_result judge(const run *r) {
    for (int64_t row = 0; row < r->problem.rows; row++) {
        const int64_t wanted = r->instance->rows[row].matches;
        const int64_t got = ((const int64_t *)r->outputs[0].seen)[row];
        if (got != wanted) {
            return run_fail("row %" PRId64 ": expected %" PRId64 " matches, got %" PRId64, row, wanted, got);
        }
    }
    return RUN_PASSED;
}

static void end(run *r) {
    (void)r;
}

const run_operation run_count = {"count", TOPK_OPERATION_COUNT, make_outputs, call, give, judge,
                                 end,     PROBLEM_PLAIN};
