/* SPDX-License-Identifier: Apache-2.0
 * Radix selection in place, as GGKS (Alabi et al., JEA 2012) and Dr. Top-k have it: digits of 8 bits, and
 * each pass reads the row again and counts the elements that share all digits found so far. Nothing is
 * copied or overwritten. The passes are air's, without its buffer. docs/methods/radix.md tells the
 * whole. */
#include "../select/in_place.h"

enum { KNOB_DIGIT_BITS };

static const struct knob knobs[] = {
    [KNOB_DIGIT_BITS] = {"digit_bits", KNOB_INTEGER, 1, SELECT_DIGIT_BITS_MAX, SIZE(8, 4), "bits of a digit"},
    {.name = NULL},
};

/* One pass more writes. */
static int64_t passes_of(const struct plan *plan, int64_t bits) {
    return divide_up(plan->element_bits, bits) + 1;
}

static double least_us(const topk_context *context, const struct plan *plan) {
    const int64_t bits = tuning_value(plan->problem.tuning, &knobs[KNOB_DIGIT_BITS]);
    return in_place_least_us(context, plan, bits, passes_of(plan, bits));
}

static void plan_passes(const topk_context *context, const struct plan *plan, struct room *room,
                        struct decision *decision) {
    const int64_t bits = tuning_value(plan->problem.tuning, &knobs[KNOB_DIGIT_BITS]);
    topk_cuda_plan_in_place(context, plan, bits, false, room, decision);
    decision->cost_us = in_place_us(context, plan, passes_of(plan, bits));
}

static int run(const struct call *call) {
    return topk_cuda_air.run(call);
}

const struct method topk_cuda_radix = {.name = "radix",
                                       .operations = SELECTS,
                                       .knobs = knobs,
                                       .least_us = least_us,
                                       .plan = plan_passes,
                                       .run = run};
