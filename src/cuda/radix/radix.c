/* SPDX-License-Identifier: Apache-2.0
 * Radix selection in place, as GGKS (Alabi et al., JEA 2012) and Dr. Top-k have it: digits of 8 bits, and
 * each pass reads the row again, of which the elements count that share all digits found so far. Nothing is
 * copied or overwritten. The passes are those of air, without its buffer. docs/methods/radix.md tells the
 * whole. */
#include "../../subcall.h"
#include "../leaf.h"
#include "../methods.h"
#include "../select/plan.h"

enum { KNOB_DIGIT_BITS };

static const struct knob knobs[] = {
    [KNOB_DIGIT_BITS] = {"digit_bits", KNOB_INTEGER, 1, SELECT_DIGIT_BITS_MAX, SIZE(8, 4), "bits of a digit"},
    {.name = NULL},
};

static int64_t digit_bits(const struct plan *plan) {
    return tuning_value(&plan->tuning, &knobs[KNOB_DIGIT_BITS]);
}

/* The same problem, by air with no room for candidates. */
static struct subcall passes_of(const topk_context *context, const struct plan *plan) {
    static const char names[] = "digit_bits alpha";
    struct subcall passes;
    topk_subcall_same(context, plan, &topk_cuda_air, &passes);
    passes.plan.tuning.count = 2;
    passes.plan.tuning.settings[0] = (struct setting){names, 10, digit_bits(plan)};
    passes.plan.tuning.settings[1] = (struct setting){names + 11, 5, INT64_MAX};
    passes.workspace_bytes = topk_cuda_air.workspace_bytes(context, &passes.plan);
    return passes;
}

/* Each pass reads the rows, and one more writes: what air takes for a pass and a result. */
static double cost_us(const topk_context *context, const struct plan *plan) {
    const double bytes = (double)plan->input_elements * (double)plan->element_bytes;
    const double passes = (double)divide_up(plan->element_bits, digit_bits(plan)) + 1;
    const double chosen =
        (double)plan->problem.rows * (double)least(plan->problem.k_max, plan->problem.length_max);
    return passes * (topk_cuda_costs.air.pass_us +
                     1.05 * move_us(context, bytes, topk_cuda_costs.air.bytes_per_us)) +
           work_us(context, chosen, topk_cuda_costs.air.chosen_per_us) +
           sorting_us(context, plan, radix_target_of(plan));
}

static size_t workspace_bytes(const topk_context *context, const struct plan *plan) {
    return passes_of(context, plan).workspace_bytes;
}

static int run(const struct call *call) {
    struct subcall passes = passes_of(call->context, call->plan);
    passes.workspace = call->workspace;
    const struct call inner = topk_subcall_call(&passes, call);
    return passes.method->run(&inner);
}

const struct method topk_cuda_radix = {.name = "radix",
                                       .operations = SELECTS,
                                       .knobs = knobs,
                                       .cost_us = cost_us,
                                       .workspace_bytes = workspace_bytes,
                                       .run = run};
