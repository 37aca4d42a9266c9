/* SPDX-License-Identifier: Apache-2.0
 * Memory of the device for workspaces. */
#include "../status.h"
#include "leaf.h"

struct request {
    size_t bytes;
    void **memory;
};

static int allocate(const void *of) {
    const struct request *request = of;
    return topk_device_allocate(request->bytes, request->memory);
}

topk_status topk_cuda_allocate(const topk_context *context, size_t bytes, void **memory) {
    const struct request request = {bytes, memory};
    const topk_status status = topk_cuda_do(context, allocate, &request);
    return status != TOPK_OK || *memory != NULL
               ? status
               : topk_fail(TOPK_ERROR_OUT_OF_MEMORY, "the device cannot allocate a workspace of %zu bytes",
                           bytes);
}

static int release(const void *of) {
    return topk_device_free(*(void *const *)of);
}

topk_status topk_cuda_release(const topk_context *context, void *memory) {
    return topk_cuda_do(context, release, &memory);
}
