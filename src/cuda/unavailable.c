/* SPDX-License-Identifier: Apache-2.0
 * The backend of a build without the CUDA toolkit: it says so, and no context ever has it. */
#include "../status.h"
#include "backend.h"

static topk_status unavailable(void) {
    return topk_fail(TOPK_ERROR_BACKEND_UNAVAILABLE, "this libtopk was built without CUDA");
}

static topk_status open_context(const topk_context_options *options, topk_context *context) {
    (void)options, (void)context;
    return unavailable();
}

const struct backend topk_cuda_backend = {
    .name = "cuda", .kind = TOPK_BACKEND_CUDA, .status = unavailable, .open = open_context};
