/* SPDX-License-Identifier: Apache-2.0
 * What the kernel of lengths is given, and who launches it. */
#ifndef TOPK_SRC_CUDA_LENGTHS_KERNELS_H
#define TOPK_SRC_CUDA_LENGTHS_KERNELS_H

#include "../grid.h"
#include "../rows.h"

struct lengths_args {
    struct row_args rows;
    int64_t *counts;
};

#ifdef __cplusplus
extern "C" {
#endif

struct lengths_kernels {
    int (*prepare)(void);
    int (*lengths)(const struct launch_grid *grid, const struct lengths_args *args);
};

extern const struct lengths_kernels topk_cuda_lengths_kernels_8, topk_cuda_lengths_kernels_16,
    topk_cuda_lengths_kernels_32, topk_cuda_lengths_kernels_64;

#ifdef __cplusplus
}
#endif
#endif
