/* SPDX-License-Identifier: Apache-2.0
 * What the neutral middle sees of the CUDA backend. */
#ifndef TOPK_SRC_CUDA_BACKEND_H
#define TOPK_SRC_CUDA_BACKEND_H

#include "../context.h"

extern const struct backend topk_cuda_backend;

/* TOPK_OK if this build has the backend and this machine any device that it can use. */
topk_status topk_cuda_status(void);

/* Loads every kernel on device context->device and fills context->leaf and features. Whatever it returns, a
 * leaf that is not NULL goes to topk_cuda_close(). */
topk_status topk_cuda_probe(topk_context *context);
void topk_cuda_close(topk_context *context);

#endif
