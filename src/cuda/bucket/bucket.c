/* SPDX-License-Identifier: Apache-2.0
 * Bucket selection in place, as GGKS (Alabi et al., JEA 2012) and Dr. Top-k have it: the range between a
 * row's least and greatest element is cut into buckets of equal width, and so is the bucket of the k-th,
 * until buckets hold one code each. Each pass reads the row. The passes are those of air, without its buffer.
 * docs/methods/bucket.md tells the whole. */
#include "../select/in_place.h"

enum { KNOB_BUCKET_BITS };

static const struct knob knobs[] = {
    [KNOB_BUCKET_BITS] = {"bucket_bits", KNOB_INTEGER, 1, SELECT_DIGIT_BITS_MAX, SIZE(8, 4),
                          "a range is cut into up to 2^bucket_bits buckets"},
    {.name = NULL},
};

static int64_t bucket_bits(const struct plan *plan) {
    return tuning_value(&plan->tuning, &knobs[KNOB_BUCKET_BITS]);
}

/* One pass more finds the ends of the range, and one writes. */
static double cost_us(const topk_context *context, const struct plan *plan) {
    return in_place_us(context, plan, divide_up(plan->element_bits, bucket_bits(plan)) + 2);
}

static size_t workspace_bytes(const topk_context *context, const struct plan *plan) {
    return in_place_passes(context, plan, bucket_bits(plan), true).decision.workspace_bytes;
}

static int run(const struct call *call) {
    struct subcall passes = in_place_passes(call->context, call->plan, bucket_bits(call->plan), true);
    return run_in_place(call, &passes);
}

const struct method topk_cuda_bucket = {.name = "bucket",
                                        .operations = SELECTS,
                                        .knobs = knobs,
                                        .cost_us = cost_us,
                                        .workspace_bytes = workspace_bytes,
                                        .run = run};
