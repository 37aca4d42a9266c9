/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "run.h"

static void make_outputs(run *r) {
    r->outputs[0] = run_output(true, r->problem.rows, sizeof(int64_t));
}

static void give(const run *r, topk_input *input, topk_output *output) {
    (void)input;
    output->counts = r->outputs[0].data;
}

static topk_status call(topk_context *context, run *r, const topk_input *input) {
    topk_output output = TOPK_OUTPUT_INIT;
    topk_input known = *input;
    give(r, &known, &output);
    return topk_run(context, TOPK_OPERATION_LENGTHS, &r->problem, &known, &output, r->workspace.data,
                    r->workspace.bytes, device_stream());
}

static run_result judge(const run *r) {
    for (int64_t row = 0; row < r->problem.rows; row++) {
        const int64_t wanted = r->instance->rows[row].extent.length;
        const int64_t got = ((const int64_t *)r->outputs[0].seen)[row];
        if (got != wanted) {
            return run_fail("row %" PRId64 ": expected %" PRId64 " elements, got %" PRId64, row, wanted, got);
        }
    }
    return RUN_PASSED;
}

static void end(run *r) {
    (void)r;
}

const run_operation run_lengths = {"lengths", TOPK_OPERATION_LENGTHS, make_outputs, call, give, judge,
                                   end,       PROBLEM_PLAIN};
