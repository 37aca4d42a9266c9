/* SPDX-License-Identifier: Apache-2.0
 * What the neutral middle sees of the CUDA backend. */
#ifndef TOPK_SRC_CUDA_BACKEND_H
#define TOPK_SRC_CUDA_BACKEND_H

#include "../method.h"

extern const struct backend topk_cuda_backend;

#endif
