/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of a GPU that is handed to the CPU is CONTRADICTION, with the driver's own word; what both reach is
 * not (CONTRACT.md, 7.8). tests/api/device_memory.c has all functions, over a driver that is made up. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "trial_cuda.h"

enum { LENGTH = 8, K = 3, BYTES = 4096, WORKSPACE = 2048, ROUNDS = 100000 };

static float numbers[LENGTH] = {1, 8, 2, 7, 3, 6, 4, 5};

static topk_status call(topk_context *context, const void *values, void *indices, void *workspace) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    topk_input input = TOPK_INPUT_INIT;
    problem.type = TOPK_F32;
    problem.length_max = LENGTH;
    problem.k_max = K;
    problem.method = "reference"; /* which has a workspace */
    input.values = values;
    return topk_select(context, &problem, &input, NULL, indices, workspace, WORKSPACE, NULL);
}

/* Memory that the host reaches serves as input, output and workspace. */
static void check_reached(topk_context *context, void *memory) {
    float *const values = memory;
    int32_t *const indices = (int32_t *)(values + LENGTH);
    memcpy(values, numbers, sizeof numbers);
    CHECK_STATUS(TOPK_OK, call(context, values, indices, indices + K));
    CHECK(indices[0] == 1 && indices[1] == 3 && indices[2] == 5);
}

static void check_refused(topk_context *context, void *memory) {
    int32_t indices[K] = {0};
    char workspace[WORKSPACE];
    CHECK_STATUS(TOPK_ERROR_CONTRADICTION, call(context, (float *)memory + 1, indices, workspace));
    CHECK(strstr(topk_last_error(), "input->values") != NULL);
    CHECK_STATUS(TOPK_ERROR_CONTRADICTION, call(context, numbers, memory, workspace));
    CHECK(strstr(topk_last_error(), "indices") != NULL);
    CHECK_STATUS(TOPK_ERROR_CONTRADICTION, call(context, numbers, indices, memory));
    CHECK(strstr(topk_last_error(), "workspace") != NULL);
}

static double nanoseconds(topk_context *context) {
    struct timespec begin, end;
    int32_t indices[K];
    char workspace[WORKSPACE];
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < ROUNDS; i++) {
        (void)call(context, numbers, indices, workspace);
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / ROUNDS;
}

int main(void) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *early, *context;
    void *device, *pooled, *managed, *pinned, *memory = calloc(1, BYTES), *registered = calloc(1, BYTES);
    options.threads = 1;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &early));
    topk_context_destroy(create_cuda_context(0)); /* or the test is skipped */
    require_cuda(cudaSetDevice(0), "cudaSetDevice");
    require_cuda(cudaMalloc(&device, BYTES), "cudaMalloc");
    require_cuda(cudaMallocAsync(&pooled, BYTES, NULL), "cudaMallocAsync");
    require_cuda(cudaMallocManaged(&managed, BYTES, cudaMemAttachGlobal), "cudaMallocManaged");
    require_cuda(cudaMallocHost(&pinned, BYTES), "cudaMallocHost");
    require_cuda(cudaHostRegister(registered, BYTES, cudaHostRegisterDefault), "cudaHostRegister");
    require_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    check_refused(context, device);
    check_refused(context, pooled);
    check_reached(context, managed);
    check_reached(context, pinned);
    check_reached(context, registered);
    check_reached(context, memory);
    CHECK(cudaGetLastError() == cudaSuccess);
    printf("a call on %d elements takes %.0f ns, where the driver is asked %.0f ns\n", LENGTH,
           nanoseconds(early), nanoseconds(context));
    topk_context_destroy(context);
    topk_context_destroy(early);
    require_cuda(cudaFree(device), "cudaFree");
    require_cuda(cudaFree(pooled), "cudaFree");
    require_cuda(cudaFree(managed), "cudaFree");
    require_cuda(cudaFreeHost(pinned), "cudaFreeHost");
    require_cuda(cudaHostUnregister(registered), "cudaHostUnregister");
    free(registered);
    free(memory);
    return check_report();
}
