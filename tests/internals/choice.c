/* SPDX-License-Identifier: Apache-2.0
 *
 * A call asks few methods, and chooses what the whole table chooses. Usage: test_choice BACKEND */
#include <float.h>
#include <string.h>

#include "check.h"
#include "choose.h"

static uint64_t state = 1; /* of a generator by Marsaglia */

static uint64_t draw(uint64_t count) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % count;
}

/* From 0 to 2^bits, all magnitudes alike. */
static int64_t draw_size(unsigned bits) {
    const uint64_t power = UINT64_C(1) << draw(bits + 1);
    return (int64_t)(draw(3) == 0 ? power - draw(2) : draw(power));
}

static topk_problem draw_problem(topk_operation *operation) {
    topk_problem p = TOPK_PROBLEM_INIT;
    *operation =
        (topk_operation)(draw(2) == 0 ? TOPK_OPERATION_SELECT
                                      : OPERATION_FIRST + draw(OPERATION_LAST - OPERATION_FIRST + 1));
    p.type = (topk_type)(TOPK_F16 + draw(TOPK_U64 - TOPK_F16 + 1));
    p.direction = draw(2) == 0 ? TOPK_LARGEST : TOPK_SMALLEST;
    p.rank = draw(4) == 0 ? TOPK_BY_MAGNITUDE : TOPK_BY_VALUE;
    p.ties = draw(2) == 0 ? TOPK_TIES_ANY : TOPK_TIES_LOWEST_INDEX;
    p.order = (topk_order)draw(TOPK_ORDER_BY_POSITION + 1);
    p.shape = draw(3) != 0 ? TOPK_SHAPE_STRIDED : draw(2) == 0 ? TOPK_SHAPE_SPANS : TOPK_SHAPE_CSR;
    p.index_type = TOPK_INDEX_I64;
    p.rows = draw_size(draw(2) == 0 ? 6 : 20);
    p.length_max = draw_size(draw(8) == 0 ? 33 : draw(2) == 0 ? 14 : 24);
    p.k_max = draw_size(draw(8) == 0 ? 24 : 10);
    p.elements_max = p.shape == TOPK_SHAPE_STRIDED ? 0 : p.rows * (p.length_max / (int64_t)(1 + draw(50)));
    p.workspace_limit = draw(8) == 0 ? (size_t)draw_size(30) : 0;
    p.epsilon = draw(32) == 0 ? 0.125 : 0;
    p.tuning = draw(64) != 0 ? NULL : draw(2) == 0 ? "digit_bits=4" : "threads=64";
    return p;
}

/* No method costs less than it says at least, or takes less workspace. */
static void check_bounds(const topk_context *context, const struct plan *plan, const struct choice *choice) {
    for (size_t i = 0; i < choice->count && plan->problem.tuning == NULL; i++) {
        const struct candidate *row = &choice->candidates[i];
        if (row->refusal == REFUSAL_NONE && row->method->least_us != NULL) {
            const double least_us = row->method->least_us(context, plan);
            if (!CHECK(least_us == DBL_MAX ? !row->within_bound : least_us <= row->decision.cost_us)) {
                printf("%s costs %g, and at least %g: operation %d, rows %lld, length %lld, k %lld\n",
                       row->method->name, row->decision.cost_us, least_us, (int)plan->operation,
                       (long long)plan->problem.rows, (long long)plan->problem.length_max,
                       (long long)plan->problem.k_max);
            }
        }
    }
}

/* Returns whether some method can serve. */
static bool check_choice(const topk_context *context) {
    struct room whole_room = {.used = 0}, room = {.used = 0};
    struct choice choice;
    struct candidate chosen;
    struct plan plan;
    topk_operation operation;
    const topk_problem problem = draw_problem(&operation);
    if (topk_plan_make(operation, &problem, &plan) != TOPK_OK) {
        return false;
    }
    CHECK_STATUS(TOPK_OK, topk_choose(context, &plan, &whole_room, &choice));
    check_bounds(context, &plan, &choice);
    const topk_status status = topk_choose_one(context, &plan, &room, &chosen);
    CHECK((status == TOPK_OK) == (choice.chosen != NULL));
    if (status != TOPK_OK || choice.chosen == NULL) {
        return false;
    }
    CHECK(choice.chosen->method == chosen.method);
    CHECK(choice.chosen->decision.workspace_bytes == chosen.decision.workspace_bytes);
    return true;
}

int main(int count, char **arguments) {
    enum { PROBLEMS = 20000 };
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context;
    int served = 0;
    options.backend = count == 2 && strcmp(arguments[1], "cuda") == 0 ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    options.threads = 8;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    for (int i = 0; i < PROBLEMS; i++) {
        served += check_choice(context);
    }
    printf("%d of %d problems are served\n", served, PROBLEMS);
    CHECK(served > PROBLEMS / 2);
    topk_context_destroy(context);
    return check_report();
}
