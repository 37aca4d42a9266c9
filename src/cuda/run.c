/* SPDX-License-Identifier: Apache-2.0
 * The one way to the device: it is current around what is done there, and errors become statuses. */
#include "../status.h"
#include "leaf.h"

topk_status topk_cuda_do(const topk_context *context, int (*work)(const void *), const void *of) {
    const struct device_handle *handle = &((const struct cuda_leaf *)context->leaf)->handle;
    const int waiting = topk_device_waiting_error();
    int error = topk_device_enter(handle);
    if (error == 0) {
        error = work(of);
        const int error_on_leaving = topk_device_leave(handle);
        error = error != 0 ? error : error_on_leaving;
    }
    if (error == 0) {
        return TOPK_OK;
    }
    topk_device_forget_error(waiting);
    return topk_fail(TOPK_ERROR_DEVICE, "CUDA error %d: %s", error, topk_device_error(error));
}

static int run(const void *of) {
    const struct call *call = of;
    return call->decision->run(call);
}

topk_status topk_cuda_run(const struct call *call) {
    return topk_cuda_do(call->context, run, call);
}
