/* SPDX-License-Identifier: Apache-2.0
 * The backend of a build without the CUDA toolkit: it says so. */
#include "../status.h"
#include "backend.h"

const struct backend topk_cuda_backend = {"cuda", NULL, 0};

topk_status topk_cuda_status(void) {
    return topk_fail(TOPK_ERROR_BACKEND_UNAVAILABLE, "this libtopk was built without CUDA");
}

topk_status topk_cuda_probe(topk_context *context) {
    (void)context;
    return topk_cuda_status();
}

void topk_cuda_close(topk_context *context) {
    (void)context; /* it never has a leaf */
}
