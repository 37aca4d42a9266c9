/* SPDX-License-Identifier: Apache-2.0
 * What the kernel of best is given, and who launches it. */
#ifndef TOPK_SRC_CUDA_BEST_KERNELS_H
#define TOPK_SRC_CUDA_BEST_KERNELS_H

#include "../grid.h"
#include "../rows.h"

#ifdef __cplusplus
extern "C" {
#endif

struct best_kernels {
    int (*prepare)(void);
    int (*select)(const struct launch_grid *grid, const struct row_args *args);
};

extern const struct best_kernels topk_cuda_best_kernels_8, topk_cuda_best_kernels_16,
    topk_cuda_best_kernels_32, topk_cuda_best_kernels_64;

#ifdef __cplusplus
}
#endif
#endif
