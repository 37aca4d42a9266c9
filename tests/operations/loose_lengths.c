/* SPDX-License-Identifier: Apache-2.0
 *
 * Predicates over rows whose length_max says little: CSR rows of a few elements each, of which the host knows
 * no more than that none is longer than all memory could hold. What they take must depend on what there is.
 * The argument is the backend: cpu (the default) or cuda. */
#include <stdbool.h>
#include <string.h>

#include "check.h"

enum { ELEMENTS = 4000, ROWS_MOST = 5000, WORKSPACE = 1 << 20 };

static topk_context *context;
static float values[ELEMENTS];
static int64_t row_offsets[ROWS_MOST + 1], offsets[ROWS_MOST + 1], counts[ROWS_MOST];
static unsigned char mask[ELEMENTS / 8], workspace[WORKSPACE];

static bool matches(int64_t element) {
    return values[element] > 500;
}

static void check_rows(int64_t rows, int64_t length_max) {
    static const topk_operation operations[] = {TOPK_OPERATION_WHERE, TOPK_OPERATION_COUNT,
                                                TOPK_OPERATION_MASK};
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_input input = TOPK_INPUT_INIT;
    topk_predicate predicate = TOPK_PREDICATE_INIT;
    problem.type = TOPK_F32;
    problem.index_type = TOPK_INDEX_I64;
    problem.shape = TOPK_SHAPE_CSR;
    problem.rows = rows;
    problem.length_max = length_max;
    problem.elements_max = ELEMENTS;
    input.values = values;
    input.offsets = row_offsets;
    predicate.kind = TOPK_GT;
    predicate.low.value.f64 = 500;
    for (int64_t r = 0; r <= rows; r++) {
        row_offsets[r] = r * ELEMENTS / rows;
    }
    for (int o = 0; o < 3; o++) {
        size_t bytes = 0;
        CHECK_STATUS(TOPK_OK, topk_workspace_size(context, operations[o], &problem, &bytes));
        if (!CHECK(bytes <= WORKSPACE)) {
            return;
        }
    }
    CHECK_STATUS(TOPK_OK, topk_where(context, &problem, &input, &predicate, NULL, NULL, 0, offsets, workspace,
                                     WORKSPACE, NULL));
    CHECK_STATUS(TOPK_OK,
                 topk_count(context, &problem, &input, &predicate, counts, workspace, WORKSPACE, NULL));
    CHECK_STATUS(TOPK_OK, topk_mask(context, &problem, &input, &predicate, mask, workspace, WORKSPACE, NULL));
    int64_t wrong = 0;
    for (int64_t r = 0; r < rows; r++) {
        int64_t count = 0;
        for (int64_t e = row_offsets[r]; e < row_offsets[r + 1]; e++) {
            count += matches(e);
            wrong += (mask[e / 8] >> e % 8 & 1) != matches(e);
        }
        wrong += counts[r] != count;
        wrong += offsets[r + 1] - offsets[r] != count;
    }
    CHECK(wrong == 0);
}

int main(int argc, char **argv) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    options.backend = argc > 1 && strcmp(argv[1], "cuda") == 0 ? TOPK_BACKEND_CUDA : TOPK_BACKEND_CPU;
    options.threads = 1;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    for (int e = 0; e < ELEMENTS; e++) {
        values[e] = (float)(e * 7919 % 1000);
    }
    check_rows(1, ELEMENTS);
    check_rows(3, ELEMENTS);
    check_rows(3, INT64_C(1) << 62);
    check_rows(ROWS_MOST, ELEMENTS);
    check_rows(ROWS_MOST, INT64_MAX);
    topk_context_destroy(context);
    return check_report();
}
