/* SPDX-License-Identifier: Apache-2.0
 * The kernel that writes results whose positions are known. */
#ifndef TOPK_SRC_CUDA_POSITION_KERNELS_H
#define TOPK_SRC_CUDA_POSITION_KERNELS_H

#include "../grid.h"
#include "../rows.h"

enum { POSITION_THREADS = 256 };

struct position_args {
    struct row_args rows;
    const void *positions; /* rows x k_max, as wide as indices; -1: padding */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Of one element width. */
struct position_kernels {
    int (*prepare)(void);
    int (*gather)(const struct launch_grid *grid, const struct position_args *args);
};

extern const struct position_kernels topk_cuda_position_kernels_8, topk_cuda_position_kernels_16,
    topk_cuda_position_kernels_32, topk_cuda_position_kernels_64;

#ifdef __cplusplus
}
#endif
#endif
