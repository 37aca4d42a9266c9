/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "run.h"

/* Bytes in front of the mask, which need not be aligned to anything. */
static int64_t shift_of(const run *r) {
    return (int64_t)(r->instance->source->seed % 3);
}

static int64_t mask_bytes(const run *r) {
    const topk_problem *p = &r->problem;
    return p->rows == 0 || p->length_max == 0 ? 0 : (r->instance->elements + 7) / 8;
}

static void make_outputs(run *r) {
    r->outputs[0] = run_output(true, shift_of(r) + mask_bytes(r), 1);
}

static topk_status call(topk_context *context, run *r, const topk_input *input) {
    return topk_mask(context, &r->problem, input, &r->predicate, (char *)r->outputs[0].data + shift_of(r),
                     r->workspace.data, r->workspace.bytes, device_stream());
}

/* The mask by its definition: the bits of matches that lie in some row. */
static unsigned char *expected_mask(const run *r) {
    unsigned char *mask = calloc((size_t)mask_bytes(r) + 1, 1);
    if (mask == NULL) {
        abort();
    }
    for (int64_t row = 0; row < r->problem.rows; row++) {
        const oracle_row *extent = &r->instance->rows[row].extent;
        for (int64_t e = extent->first; e < extent->first + extent->length; e++) {
            if (r->instance->rows[row].is_match[e - extent->first]) {
                mask[e / 8] |= (unsigned char)(1 << e % 8);
            }
        }
    }
    return mask;
}

static run_result judge(const run *r) {
    const unsigned char *seen = r->outputs[0].seen;
    run_result result = RUN_PASSED;
    for (int64_t b = 0; b < shift_of(r); b++) {
        if (seen[b] != RUN_POISON) {
            result = run_fail("wrote before the mask");
        }
    }
    unsigned char *mask = expected_mask(r);
    for (int64_t b = 0; b < mask_bytes(r) && result == RUN_PASSED; b++) {
        if (seen[shift_of(r) + b] != mask[b]) {
            result = run_fail("byte %" PRId64 " of the mask: expected %#x, got %#x", b, (unsigned)mask[b],
                              (unsigned)seen[shift_of(r) + b]);
        }
    }
    free(mask);
    return result;
}

static void give(const run *r, topk_input *input, topk_output *output) {
    input->predicate = &r->predicate;
    output->mask = (char *)r->outputs[0].data + shift_of(r);
}

static void end(run *r) {
    (void)r;
}

const run_operation run_mask = {"mask", TOPK_OPERATION_MASK, make_outputs, call, give, judge,
                                end,    PROBLEM_PLAIN};
