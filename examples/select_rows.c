/* SPDX-License-Identifier: Apache-2.0
 * The three best scores of each of two rows, with their positions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <topk.h>

static int fail(void) {
    (void)fprintf(stderr, "select_rows: %s\n", topk_last_error());
    return EXIT_FAILURE;
}

int main(void) {
    const float scores[2][5] = {{0.1f, 0.9f, 0.4f, 0.9f, 0.2f}, {5, 3, 8, 1, 7}};
    float values[2][3];
    int32_t indices[2][3];
    size_t bytes;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context;
    topk_input input = TOPK_INPUT_INIT;
    topk_problem problem = TOPK_PROBLEM_INIT;
    options.backend = TOPK_BACKEND_CPU;
    problem.type = TOPK_F32;
    problem.rows = 2;
    problem.length_max = 5;
    problem.k_max = 3;
    input.values = scores;
    if (topk_context_create(&options, &context) != TOPK_OK ||
        topk_workspace_size(context, TOPK_OPERATION_SELECT, &problem, &bytes) != TOPK_OK) {
        return fail(); /* which prints topk_last_error() */
    }
    void *workspace = malloc(bytes);
    if (topk_select(context, &problem, &input, values, indices, workspace, bytes, NULL) != TOPK_OK) {
        return fail();
    }
    free(workspace);
    topk_context_destroy(context);

    for (int row = 0; row < 2; row++) {
        for (int i = 0; i < 3; i++) {
            (void)printf("row %d: %g at %d\n", row, (double)values[row][i], (int)indices[row][i]);
        }
    }
    /* Equal scores keep the order of their positions. */
    const int32_t expected[2][3] = {{1, 3, 2}, {2, 4, 0}};
    return memcmp(indices, expected, sizeof expected) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
