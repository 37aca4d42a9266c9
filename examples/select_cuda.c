/* SPDX-License-Identifier: Apache-2.0
 * The three best scores of each of two rows, on a GPU: everything is the device's, and the call only enqueues
 * its work. README.md shows the middle of it. Without a GPU the program exits with 77. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>
#include <topk.h>

enum { ROWS = 2, LENGTH = 5, K = 3, SKIPPED = 77 };

static int fail(void) {
    (void)fprintf(stderr, "select_cuda: %s; %s\n", topk_last_error(), cudaGetErrorString(cudaGetLastError()));
    return EXIT_FAILURE;
}

static int run(float *scores, float *values, int32_t *indices, cudaStream_t stream) {
    void *workspace;
    size_t bytes;
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context;
    topk_input input = TOPK_INPUT_INIT;
    topk_problem problem = TOPK_PROBLEM_INIT;
    options.backend = TOPK_BACKEND_CUDA; /* on device 0 */
    problem.type = TOPK_F32;
    problem.rows = ROWS;
    problem.length_max = LENGTH;
    problem.k_max = K;
    input.values = scores; /* of the device, as are values, indices and workspace */
    if (topk_context_create(&options, &context) != TOPK_OK ||
        topk_workspace_size(context, TOPK_OPERATION_SELECT, &problem, &bytes) != TOPK_OK ||
        cudaMalloc(&workspace, bytes) != cudaSuccess ||
        topk_select(context, &problem, &input, values, indices, workspace, bytes, stream) != TOPK_OK ||
        cudaStreamSynchronize(stream) != cudaSuccess) {
        return fail();
    }
    (void)cudaFree(workspace);
    topk_context_destroy(context);
    return EXIT_SUCCESS;
}

int main(void) {
    const float scores[ROWS][LENGTH] = {{0.1f, 0.9f, 0.4f, 0.9f, 0.2f}, {5, 3, 8, 1, 7}};
    int32_t indices[ROWS][K];
    cudaStream_t stream;
    char *memory;
    if (topk_backend_status(TOPK_BACKEND_CUDA) != TOPK_OK) {
        (void)fprintf(stderr, "skipped: %s\n", topk_last_error());
        return SKIPPED;
    }
    if (cudaStreamCreate(&stream) != cudaSuccess ||
        cudaMalloc((void **)&memory, sizeof scores + 2 * sizeof indices) != cudaSuccess ||
        cudaMemcpy(memory, scores, sizeof scores, cudaMemcpyHostToDevice) != cudaSuccess) {
        return fail();
    }
    int32_t *device_indices = (int32_t *)(memory + sizeof scores);
    float *device_values = (float *)(device_indices + ROWS * K);
    if (run((float *)memory, device_values, device_indices, stream) != EXIT_SUCCESS ||
        cudaMemcpy(indices, device_indices, sizeof indices, cudaMemcpyDeviceToHost) != cudaSuccess) {
        return fail();
    }
    (void)cudaFree(memory);
    (void)cudaStreamDestroy(stream);

    for (int row = 0; row < ROWS; row++) {
        (void)printf("row %d: %d %d %d\n", row, (int)indices[row][0], (int)indices[row][1],
                     (int)indices[row][2]);
    }
    const int32_t expected[ROWS][K] = {{1, 3, 2}, {2, 4, 0}};
    return memcmp(indices, expected, sizeof expected) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
