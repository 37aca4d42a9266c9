/* SPDX-License-Identifier: Apache-2.0
 *
 * What the library returns as an error it does not leave for cudaGetLastError(), and an error of the caller's
 * that waits there stays (CONTRACT.md, 10.7). */
#include "check.h"
#include "trial_cuda.h"

/* A stream whose capture has become invalid: launches on it fail, and nothing else is harmed. */
static cudaStream_t begin_broken_capture(void) {
    cudaStream_t stream;
    require_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    require_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    CHECK(cudaStreamSynchronize(stream) != cudaSuccess);
    (void)cudaGetLastError();
    return stream;
}

static void end_broken_capture(cudaStream_t stream) {
    cudaGraph_t graph = NULL;
    (void)cudaStreamEndCapture(stream, &graph);
    (void)cudaGetLastError();
    require_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

/* Leaves an error as the caller's code may have. */
static void leave_error(void) {
    CHECK(cudaSetDevice(100000) == cudaErrorInvalidDevice);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
}

int main(void) {
    topk_context *context = create_cuda_context(0), *other;
    trial t;
    trial_create(&t, context, 0);
    trial_change(&t, 3);

    cudaStream_t broken = begin_broken_capture();
    CHECK_STATUS(TOPK_ERROR_DEVICE, trial_call(&t, context, broken));
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    leave_error();
    CHECK_STATUS(TOPK_ERROR_DEVICE, trial_call(&t, context, broken));
    CHECK(cudaGetLastError() != cudaSuccess);
    end_broken_capture(broken);

    leave_error();
    CHECK_STATUS(TOPK_OK, trial_call(&t, context, NULL));
    CHECK_STATUS(TOPK_OK, topk_backend_status(TOPK_BACKEND_CUDA));
    other = create_cuda_context(0);
    topk_context_destroy(other);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    CHECK(trial_is_right(&t));
    trial_free(&t);
    topk_context_destroy(context);
    return check_report();
}
