/* SPDX-License-Identifier: Apache-2.0
 * Radix selection in place, as GGKS (Alabi et al., JEA 2012) and Dr. Top-k have it: digits of 8 bits, and
 * each pass reads the row again, of which the elements count that share all digits found so far. Nothing is
 * copied or overwritten. The passes are those of air, without its buffer. docs/methods/radix.md tells the
 * whole. */
#include "../select/in_place.h"

enum { KNOB_DIGIT_BITS };

static const struct knob knobs[] = {
    [KNOB_DIGIT_BITS] = {"digit_bits", KNOB_INTEGER, 1, SELECT_DIGIT_BITS_MAX, SIZE(8, 4), "bits of a digit"},
    {.name = NULL},
};

static int64_t digit_bits(const struct plan *plan) {
    return tuning_value(&plan->tuning, &knobs[KNOB_DIGIT_BITS]);
}

/* One pass more writes. */
static double cost_us(const topk_context *context, const struct plan *plan) {
    return in_place_us(context, plan, divide_up(plan->element_bits, digit_bits(plan)) + 1);
}

static size_t workspace_bytes(const topk_context *context, const struct plan *plan) {
    return in_place_passes(context, plan, digit_bits(plan), false).decision.workspace_bytes;
}

static int run(const struct call *call) {
    struct subcall passes = in_place_passes(call->context, call->plan, digit_bits(call->plan), false);
    return run_in_place(call, &passes);
}

const struct method topk_cuda_radix = {.name = "radix",
                                       .operations = SELECTS,
                                       .knobs = knobs,
                                       .cost_us = cost_us,
                                       .workspace_bytes = workspace_bytes,
                                       .run = run};
