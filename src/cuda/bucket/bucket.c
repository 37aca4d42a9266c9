/* SPDX-License-Identifier: Apache-2.0
 * Bucket selection in place, as GGKS (Alabi et al., JEA 2012) and Dr. Top-k have it: the range between a
 * row's least and greatest element is cut into buckets of equal width, and so is the bucket of the k-th,
 * until buckets hold one code each. Each pass reads the row. The passes are air's, without its buffer.
 * docs/methods/bucket.md tells the whole. */
#include "../select/in_place.h"

enum { KNOB_BUCKET_BITS };

static const struct knob knobs[] = {
    [KNOB_BUCKET_BITS] = {"bucket_bits", KNOB_INTEGER, 1, SELECT_DIGIT_BITS_MAX, SIZE(8, 4),
                          "a range is cut into up to 2^bucket_bits buckets"},
    {.name = NULL},
};

/* One pass more finds the ends of the range, and one writes. */
static int64_t passes_of(const struct plan *plan, int64_t bits) {
    return divide_up(plan->element_bits, bits) + 2;
}

static double least_us(const topk_context *context, const struct plan *plan) {
    const int64_t bits = tuning_value(plan->problem.tuning, &knobs[KNOB_BUCKET_BITS]);
    return in_place_least_us(context, plan, bits, passes_of(plan, bits));
}

static void plan_passes(const topk_context *context, const struct plan *plan, struct room *room,
                        struct decision *decision) {
    const int64_t bits = tuning_value(plan->problem.tuning, &knobs[KNOB_BUCKET_BITS]);
    topk_cuda_plan_in_place(context, plan, bits, true, room, decision);
    decision->cost_us = in_place_us(context, plan, passes_of(plan, bits));
}

static int run(const struct call *call) {
    return topk_cuda_air.run(call);
}

const struct method topk_cuda_bucket = {.name = "bucket",
                                        .operations = SELECTS,
                                        .knobs = knobs,
                                        .least_us = least_us,
                                        .plan = plan_passes,
                                        .run = run};
