/* SPDX-License-Identifier: Apache-2.0
 * Stream compaction: the positions of all readings within bounds, row by row, in input order. The bounds
 * are real numbers, whatever the type of the readings. */
#include <stdio.h>
#include <stdlib.h>

#include <topk.h>

enum { SENSORS = 3, READINGS = 8, TOTAL = SENSORS * READINGS };

static const int16_t readings[SENSORS][READINGS] = {
    {12, 19, 25, 31, 18, 22, 40, -3},
    {0, 0, 0, 0, 0, 0, 0, 0},
    {20, 21, 22, 23, 24, 25, 26, 27},
};

static int fail(const char *reason) {
    (void)fprintf(stderr, "where: %s\n", reason);
    return EXIT_FAILURE;
}

/* Whether the results are what a loop over all readings finds. */
static int right(const int32_t *positions, const int64_t *offsets) {
    int64_t at = 0;
    for (int sensor = 0; sensor < SENSORS; sensor++) {
        if (offsets[sensor] != at) {
            return 0;
        }
        for (int i = 0; i < READINGS; i++) {
            const int16_t reading = readings[sensor][i];
            if (reading >= 18.5 && reading <= 25.0 && positions[at++] != i) {
                return 0;
            }
        }
    }
    return offsets[SENSORS] == at;
}

int main(void) {
    int32_t positions[TOTAL];
    int64_t offsets[SENSORS + 1];
    size_t bytes;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context;
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_input input = TOPK_INPUT_INIT;
    topk_predicate predicate = TOPK_PREDICATE_INIT;
    options.backend = TOPK_BACKEND_CPU;
    problem.type = TOPK_I16;
    problem.rows = SENSORS;
    problem.length_max = READINGS;
    input.values = readings;
    predicate.kind = TOPK_BETWEEN;
    predicate.low = topk_bound_f64(18.5);
    predicate.high = topk_bound_f64(25.0);

    if (topk_context_create(&options, &context) != TOPK_OK ||
        topk_workspace_size(context, TOPK_OPERATION_WHERE, &problem, &bytes) != TOPK_OK) {
        return fail(topk_last_error());
    }
    void *workspace = malloc(bytes);
    if (topk_where(context, &problem, &input, &predicate, NULL, positions, TOTAL, offsets, workspace, bytes,
                   NULL) != TOPK_OK) {
        return fail(topk_last_error());
    }
    free(workspace);
    topk_context_destroy(context);

    for (int sensor = 0; sensor < SENSORS; sensor++) {
        (void)printf("sensor %d:", sensor);
        for (int64_t i = offsets[sensor]; i < offsets[sensor + 1]; i++) {
            (void)printf(" %d", (int)positions[i]);
        }
        (void)printf("\n");
    }
    return right(positions, offsets) ? EXIT_SUCCESS : fail("a loop gives another answer");
}
