/* SPDX-License-Identifier: Apache-2.0
 * RTop-K: the threshold of each row by a binary search, which a problem may end early (CONTRACT.md 2.5).
 * Exact, it works as the method rows does. */
#include "methods.h"

#include <math.h>
#include <string.h>

#include "row_batches.h"

struct own {
    struct row_batches batches;
    struct approximation approximation; /* of a problem that is approximate */
};

/* 2^exponent, without a floating-point operation. */
static double power_of_2(unsigned exponent) {
    const uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

static bool is_zero(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits << 1 == 0;
}

/* Bits of a number are its key's, or their complement, but for the sign. */
static struct approximation approximation_of(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    const struct type_traits traits = topk_type_traits(p->type);
    const uint64_t sign = 1ull << (traits.bits - 1), largest = topk_largest_finite(&traits);
    const bool relative = is_zero(p->epsilon);
    return (struct approximation){.max_iterations = p->max_iterations,
                                  .epsilon = relative ? p->epsilon_relative : p->epsilon,
                                  .relative = relative,
                                  .least = ~(sign | largest) & topk_ones(traits.bits),
                                  .greatest = sign | largest,
                                  .mantissa_bits = traits.mantissa_bits,
                                  .scale = power_of_2(topk_bias_gap(&traits))};
}

/* The bracket is faster on rows that are too long for the method rows. */
static double cost_us(const topk_context *context, const struct plan *plan) {
    const bool is_slow = !plan->approximate && plan->problem.length_max > SHORT_ROW_MAX;
    return topk_cpu_row_batches_us(context, plan) * (is_slow ? 30.0 : 1.0);
}

static double least_us(const topk_context *context, const struct plan *plan) {
    return plan->problem.length_max > RTOPK_ROW_MAX ? INFINITY : cost_us(context, plan);
}

static void plan_rtopk(const topk_context *context, const struct plan *plan, struct room *room,
                       struct decision *decision) {
    if (plan->problem.length_max > RTOPK_ROW_MAX) {
        decision->cannot = "rows are longer than 8192 elements";
        return;
    }
    struct own *own = topk_room_take(room, sizeof *own);
    topk_cpu_row_batches_plan(context, plan, &own->batches, decision);
    decision->own = own;
    decision->cost_us = cost_us(context, plan);
    decision->variant = plan->approximate ? "approximate" : "exact";
    if (plan->approximate) {
        own->approximation = approximation_of(plan);
    }
}

static int run(const struct call *call) {
    const struct own *own = call->decision->own;
    topk_cpu_row_batches_run(call, &own->batches, call->plan->approximate ? &own->approximation : NULL);
    return 0;
}

const struct method topk_cpu_rtopk = {.name = "rtopk",
                                      .operations = SELECTS_KTH_WHERE,
                                      .approximates = true,
                                      .least_us = least_us,
                                      .plan = plan_rtopk,
                                      .run = run};
