/* SPDX-License-Identifier: Apache-2.0
 * Pruning: the magnitude that exactly a tenth of the weights reaches, as a threshold. Only the k-th
 * element is found; nothing is selected or moved. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <topk.h>

enum { WEIGHTS = 100000, KEPT = WEIGHTS / 10 };

static float weights[WEIGHTS];

static int fail(const char *reason) {
    (void)fprintf(stderr, "kth: %s\n", reason);
    return EXIT_FAILURE;
}

static void make_weights(void) {
    uint32_t state = 1;
    for (int i = 0; i < WEIGHTS; i++) {
        state = state * 1664525u + 1013904223u;
        weights[i] = (float)(int32_t)(state >> 8) / 8388608.0f - 1.0f;
    }
}

int main(void) {
    float threshold;
    int64_t better, equal, larger = 0, same = 0;
    size_t bytes;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context;
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_input input = TOPK_INPUT_INIT;
    make_weights();
    options.backend = TOPK_BACKEND_CPU;
    problem.type = TOPK_F32;
    problem.rank = TOPK_BY_MAGNITUDE;
    problem.length_max = WEIGHTS;
    problem.k_max = KEPT;
    input.values = weights;

    if (topk_context_create(&options, &context) != TOPK_OK ||
        topk_workspace_size(context, TOPK_OPERATION_KTH, &problem, &bytes) != TOPK_OK) {
        return fail(topk_last_error());
    }
    void *workspace = malloc(bytes);
    if (topk_kth(context, &problem, &input, &threshold, &better, &equal, workspace, bytes, NULL) != TOPK_OK) {
        return fail(topk_last_error());
    }
    free(workspace);
    topk_context_destroy(context);

    (void)printf("keep |w| >= %.9g: %lld weights are larger, %lld equal\n", (double)threshold,
                 (long long)better, (long long)equal);
    for (int i = 0; i < WEIGHTS; i++) {
        larger += fabsf(weights[i]) > threshold;
        same += fabsf(weights[i]) == threshold;
    }
    const int right = larger == better && same == equal && larger < KEPT && larger + same >= KEPT;
    return right ? EXIT_SUCCESS : fail("counting gives another answer");
}
