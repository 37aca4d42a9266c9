/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>

#include "route.h"
#include "run.h"

static const double weight_tolerance = 4; /* units in the last place: CONTRACT.md, 11.5 */

static bool is_near(float wanted, float got) {
    int exponent;
    if (isnan(wanted) || isnan(got) || isinf(wanted)) {
        return isnan(wanted) ? isnan(got) : wanted == got;
    }
    (void)frexp(fmax(fabs((double)wanted), 0x1p-126), &exponent);
    return fabs((double)got - (double)wanted) <= weight_tolerance * ldexp(1, exponent - 24);
}

static run_result check_row(const run *r, int64_t row) {
    const topk_problem *p = &r->problem;
    const instance *i = r->instance;
    const int64_t stride = p->row_stride != 0 ? p->row_stride : p->length_max;
    const char *logits = (const char *)i->logits + (size_t)(row * stride) * oracle_type_size(p->type);
    oracle_expert chosen[ORACLE_CHOSEN_MAX];
    (void)oracle_route(p, &i->routing, logits, i->routing.bias, chosen);
    for (int64_t s = 0; s < p->k_max; s++) {
        const int64_t at = row * p->k_max + s, position = chosen[s].position;
        const int64_t wanted = position < 0 ? -1 : position + p->index_base;
        const int64_t got = wants_indices(i) ? instance_read_index(p, r->outputs[0].seen, at) : wanted;
        const float weight = wants_values(i) ? ((const float *)r->outputs[1].seen)[at] : chosen[s].weight;
        if (got != wanted) {
            return run_fail("row %" PRId64 " slot %" PRId64 ": expected expert %" PRId64 ", got %" PRId64,
                            row, s, wanted, got);
        }
        if (!is_near(chosen[s].weight, weight)) {
            return run_fail("row %" PRId64 " slot %" PRId64 ", expert %" PRId64
                            ": expected weight %a, got %a",
                            row, s, wanted, (double)chosen[s].weight, (double)weight);
        }
    }
    return RUN_PASSED;
}

static void make_outputs(run *r) {
    const int64_t slots = r->problem.rows * r->problem.k_max;
    r->outputs[0] = run_output(wants_indices(r->instance), slots, instance_index_bytes(&r->problem));
    r->outputs[1] = run_output(wants_values(r->instance), slots, sizeof(float));
}

static topk_status call(topk_context *context, run *r, const topk_input *input) {
    (void)input;
    return topk_route(context, &r->problem, &r->routing, instance_logits(r->instance), r->outputs[0].data,
                      r->outputs[1].data, r->workspace.data, r->workspace.bytes, device_stream());
}

static void give(const run *r, topk_input *input, topk_output *output) {
    *input = (topk_input)TOPK_INPUT_INIT;
    input->values = instance_logits(r->instance);
    input->routing = &r->routing;
    output->indices = r->outputs[0].data;
    output->weights = r->outputs[1].data;
}

static run_result judge(const run *r) {
    run_result result = RUN_PASSED;
    for (int64_t row = 0; row < r->problem.rows && result == RUN_PASSED; row++) {
        result = check_row(r, row);
    }
    return result;
}

static void end(run *r) {
    (void)r;
}

const run_operation run_route = {"route", TOPK_OPERATION_ROUTE, make_outputs, call, give, judge,
                                 end,     PROBLEM_PLAIN};
