/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorted selections of every k of a row: the parts that are sorted and merged have all lengths, with all
 * distances to the ends of their buffers. Results are the first k of one order, made by qsort. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "topk.h"

enum {
    LENGTH = 4200, /* beyond 4096 other buffers hold what is sorted */
    SHORT = 2100,
    K_MAX = 2100, /* more than 2048 keys are sorted otherwise */
    VALUES = 700  /* so that some are equal */
};

static int value_at(int position) {
    return (int)((uint32_t)position * 2654435761u >> 8) % VALUES;
}

static int best_first(const void *a, const void *b) {
    const int p = *(const int *)a, q = *(const int *)b;
    return value_at(p) != value_at(q) ? value_at(q) - value_at(p) : p - q;
}

static void fill(topk_type type, void *values) {
    for (int i = 0; i < LENGTH; i++) {
        switch (type) {
        case TOPK_U16:
            ((uint16_t *)values)[i] = (uint16_t)value_at(i);
            break;
        case TOPK_F32:
            ((float *)values)[i] = (float)value_at(i);
            break;
        default:
            ((double *)values)[i] = value_at(i);
            break;
        }
    }
}

/* The workspace has just the bytes that are asked for, so that a sanitizer sees what lies behind it. */
static void check_type(topk_context *context, int length, topk_type type, const int *order) {
    static double values[LENGTH];
    static int32_t indices[LENGTH];
    fill(type, values);
    topk_input input = TOPK_INPUT_INIT;
    input.values = values;
    for (int k = 1; k <= K_MAX; k++) {
        topk_problem problem = TOPK_PROBLEM_INIT;
        size_t bytes = 0;
        problem.type = type;
        problem.index_type = TOPK_INDEX_I32;
        problem.rows = 1;
        problem.length_max = length;
        problem.k_max = k;
        CHECK_STATUS(TOPK_OK, topk_workspace_size(context, TOPK_OPERATION_SELECT, &problem, &bytes));
        void *workspace = malloc(bytes);
        CHECK_STATUS(TOPK_OK, topk_select(context, &problem, &input, NULL, indices, workspace, bytes, NULL));
        free(workspace);
        CHECK(memcmp(indices, order, (size_t)k * sizeof *indices) == 0);
    }
}

int main(void) {
    static int order[LENGTH];
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context = NULL;
    options.backend = TOPK_BACKEND_CPU;
    options.threads = 1;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    for (int l = 0; l < 2; l++) {
        const int length = l == 0 ? SHORT : LENGTH;
        for (int i = 0; i < length; i++) {
            order[i] = i;
        }
        qsort(order, (size_t)length, sizeof *order, best_first);
        check_type(context, length, TOPK_U16, order);
        check_type(context, length, TOPK_F32, order);
        check_type(context, length, TOPK_F64, order);
    }
    topk_context_destroy(context);
    return check_report();
}
