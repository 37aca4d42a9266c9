/* SPDX-License-Identifier: Apache-2.0
 * The one way into a method: the context's device is current around it, and its error becomes a status. */
#include "../status.h"
#include "leaf.h"

topk_status topk_cuda_run(const struct method *method, const struct call *call) {
    const struct device_handle *handle = &((const struct cuda_leaf *)call->context->leaf)->handle;
    const int waiting = topk_device_waiting_error();
    int error = topk_device_enter(handle);
    if (error == 0) {
        error = method->run(call);
        const int error_on_leaving = topk_device_leave(handle);
        error = error != 0 ? error : error_on_leaving;
    }
    if (error == 0) {
        return TOPK_OK;
    }
    topk_device_forget_error(waiting);
    return topk_fail(TOPK_ERROR_DEVICE, "CUDA error %d: %s", error, topk_device_error(error));
}
