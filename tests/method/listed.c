/* SPDX-License-Identifier: Apache-2.0
 *
 * listed BACKEND METHOD...: topk_explain lists each method of the backend, and each serves when it is forced
 * to. The problem is one that every method of select can serve. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "topk_advanced.h"

static const char *explain(const topk_context *context, const char *method) {
    static char text[8192];
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = TOPK_F32;
    problem.length_max = 100;
    problem.k_max = 1;
    problem.method = method;
    CHECK_STATUS(TOPK_OK, topk_explain(context, TOPK_OPERATION_SELECT, &problem, text, sizeof text, NULL));
    return text;
}

int main(int count, char **arguments) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context;
    if (count < 3) {
        return 2;
    }
    options.backend = strcmp(arguments[1], "cuda") == 0 ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    for (int i = 2; i < count; i++) {
        char row[64];
        (void)snprintf(row, sizeof row, "\n* %s ", arguments[i]);
        CHECK(strstr(explain(context, NULL), row + 3) != NULL);
        CHECK(strstr(explain(context, arguments[i]), row) != NULL);
    }
    topk_context_destroy(context);
    return check_report();
}
