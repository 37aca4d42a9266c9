/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows beyond 2^32 elements, whose positions take 8 bytes, by their plans alone: candidates still fit the
 * workspace that CONTRACT.md 7.2 allows, for elements of every size; and a plan without room for
 * candidates does not promise the time of one that has it. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "topk_advanced.h"

#define NARROW (INT64_C(1) << 32)
#define WIDE (NARROW + 12345)

static const topk_operation operations[] = {TOPK_OPERATION_SELECT, TOPK_OPERATION_SELECT_WHERE,
                                            TOPK_OPERATION_KTH};

static topk_problem problem_of(topk_type type, int64_t length, int64_t k) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = type;
    problem.index_type = TOPK_INDEX_I64;
    problem.rows = 1;
    problem.length_max = length;
    problem.k_max = k;
    problem.method = "bracket";
    return problem;
}

static size_t workspace_of(const topk_context *context, topk_operation operation,
                           const topk_problem *problem) {
    size_t bytes = 0;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(context, operation, problem, &bytes));
    return bytes;
}

/* The microseconds that topk_explain() predicts for bracket. */
static double cost_of(const topk_context *context, topk_operation operation, const topk_problem *problem) {
    char text[4096];
    CHECK_STATUS(TOPK_OK, topk_explain(context, operation, problem, text, sizeof text, NULL));
    const char *line = strstr(text, "* bracket");
    return CHECK(line != NULL) ? strtod(line + strlen("* bracket"), NULL) : 0.0;
}

static void check_plans(const topk_context *context, topk_type type, size_t element_bytes, int64_t k) {
    for (int o = 0; o < 3; o++) {
        const topk_problem below = problem_of(type, NARROW, k), beyond = problem_of(type, WIDE, k);
        const size_t bytes = workspace_of(context, operations[o], &beyond);
        CHECK(bytes >= workspace_of(context, operations[o], &below));
        CHECK(bytes <= (size_t)WIDE * element_bytes / 8 + 24 * (size_t)k + (32u << 20));
        topk_problem tight = beyond;
        tight.workspace_limit = bytes - 1;
        CHECK(cost_of(context, operations[o], &tight) > 3 * cost_of(context, operations[o], &beyond));
    }
}

int main(void) {
    const struct {
        topk_type type;
        size_t bytes;
    } types[] = {{TOPK_U8, 1}, {TOPK_F8_E5M2, 1}, {TOPK_F16, 2}, {TOPK_F32, 4}, {TOPK_I64, 8}};
    for (int threads = 1; threads <= 64; threads *= 8) {
        topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
        topk_context *context = NULL;
        options.backend = TOPK_BACKEND_CPU;
        options.threads = threads;
        CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
        for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
            for (int64_t k = 1; k < 10000000; k = 50 * k) {
                check_plans(context, types[t].type, types[t].bytes, k);
            }
        }
        topk_context_destroy(context);
    }
    return check_report();
}
