/* SPDX-License-Identifier: Apache-2.0
 * What the methods of this backend share on the host. */
#ifndef TOPK_SRC_CUDA_LEAF_H
#define TOPK_SRC_CUDA_LEAF_H

#include "backend.h"
#include "device.h"

/* context->leaf */
struct cuda_leaf {
    struct device_info device;
    struct device_handle handle;
    char features[320];
};

static inline const struct device_info *device_of(const topk_context *context) {
    return &((const struct cuda_leaf *)context->leaf)->device;
}

/* Enqueues a call's work on the context's device: `enqueue` returns 0 or a cudaError_t, which becomes the
 * call's status. The caller's current device is what it was. */
topk_status topk_cuda_run(const struct call *call, int (*enqueue)(const struct call *call));

#endif
