/* SPDX-License-Identifier: Apache-2.0
 *
 * The caller's current device is what it was after every call, whatever the context's device is; the null
 * stream is a stream like others. */
#include "check.h"
#include "topk_advanced.h"
#include "trial_cuda.h"

static int current(void) {
    int device = -1;
    require_cuda(cudaGetDevice(&device), "cudaGetDevice");
    return device;
}

static topk_status create(int device) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context;
    options.backend = TOPK_BACKEND_CUDA;
    options.device = device;
    topk_status status = topk_context_create(&options, &context);
    CHECK((status == TOPK_OK) == (context != NULL));
    topk_context_destroy(context);
    return status;
}

static void check_ordinals(int count) {
    const int bad[] = {-1, count, count + 1, 1000, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 6; i++) {
        CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, create(bad[i]));
        CHECK(topk_last_error()[0] != '\0');
        CHECK(cudaGetLastError() == cudaSuccess); /* nothing is left behind for the caller to trip over */
    }
}

/* A context of `device`, with another device current during every call into the library. */
static void check_foreign_context(int device, int other) {
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    cudaStream_t stream;
    require_cuda(cudaSetDevice(other), "cudaSetDevice");
    topk_context *context = create_cuda_context(device);
    CHECK(current() == other);
    CHECK_STATUS(TOPK_OK, topk_context_query(context, &properties));
    CHECK(properties.backend == TOPK_BACKEND_CUDA && properties.device == device);
    for (int kind = 0; kind < TRIAL_KINDS; kind++) {
        trial t;
        require_cuda(cudaSetDevice(device), "cudaSetDevice");
        require_cuda(cudaStreamCreate(&stream), "cudaStreamCreate");
        trial_create(&t, context, kind);
        trial_change(&t, 4);
        for (int i = 0; i < 2; i++) {
            trial_poison(&t);
            require_cuda(cudaSetDevice(other), "cudaSetDevice");
            /* The null stream belongs to the context's device, not to the current one. */
            CHECK_STATUS(TOPK_OK, trial_call(&t, context, i == 0 ? stream : NULL));
            CHECK(current() == other);
            require_cuda(cudaSetDevice(device), "cudaSetDevice");
            CHECK(trial_is_right(&t));
        }
        require_cuda(cudaSetDevice(other), "cudaSetDevice");
        const size_t bytes = t.workspace.bytes;
        t.workspace.bytes = 0;
        if (bytes > 0) {
            CHECK_STATUS(TOPK_ERROR_WORKSPACE_TOO_SMALL, trial_call(&t, context, NULL));
        }
        CHECK(current() == other);
        t.workspace.bytes = bytes;
        require_cuda(cudaSetDevice(device), "cudaSetDevice");
        trial_free(&t);
        require_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
    }
    topk_context_destroy(context);
}

int main(void) {
    int count = 0;
    topk_context_destroy(create_cuda_context(0)); /* or the test is skipped */
    require_cuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    check_ordinals(count);
    check_foreign_context(0, 0);
    if (count > 1) {
        check_foreign_context(1, 0);
        check_foreign_context(0, 1);
        check_foreign_context(count - 1, 1);
    } else {
        printf("one device only: contexts of another one were not tried\n");
    }
    return check_report();
}
