/* SPDX-License-Identifier: Apache-2.0
 * The backend of a build without the CUDA toolkit: it says so, and no context ever has it. Its methods are
 * there by name alone, so that TOPK_METHOD may name them. */
#include "../status.h"
#include "backend.h"
#include "methods.h"

#define METHOD_NAME(constant) &(const struct method){.name = &#constant[sizeof "topk_cuda_" - 1]},
static const struct method *const methods[] = {TOPK_CUDA_METHODS(METHOD_NAME)};

static topk_status unavailable(void) {
    return topk_fail(TOPK_ERROR_BACKEND_UNAVAILABLE, "this libtopk was built without CUDA");
}

static topk_status open_context(const topk_context_options *options, topk_context *context) {
    (void)options, (void)context;
    return unavailable();
}

const struct backend topk_cuda_backend = {.name = "cuda",
                                          .kind = TOPK_BACKEND_CUDA,
                                          .methods = methods,
                                          .method_count = sizeof methods / sizeof methods[0],
                                          .status = unavailable,
                                          .open = open_context};
