/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include <topk.h>

int main(void) {
    const float scores[5] = {0.1f, 0.9f, 0.4f, 0.9f, 0.2f};
    float values[3];
    int32_t indices[3];
    size_t bytes;
    void *workspace = NULL;
    topk_context *cpu = NULL;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_input input = TOPK_INPUT_INIT;
    options.backend = TOPK_BACKEND_CPU;
    problem.type = TOPK_F32;
    problem.length_max = 5;
    problem.k_max = 3;
    input.values = scores;
    if (topk_context_create(&options, &cpu) != TOPK_OK ||
        topk_workspace_size(cpu, TOPK_OPERATION_SELECT, &problem, &bytes) != TOPK_OK ||
        (workspace = malloc(bytes)) == NULL ||
        topk_select(cpu, &problem, &input, values, indices, workspace, bytes, NULL) != TOPK_OK) {
        return EXIT_FAILURE; /* topk_last_error() says why */
    }
    for (int i = 0; i < 3; i++) {
        (void)printf("%g at %d\n", (double)values[i], (int)indices[i]);
    }
    free(workspace);
    topk_context_destroy(cpu);
    return EXIT_SUCCESS;
}
