/* SPDX-License-Identifier: Apache-2.0
 * The kernel that gives each rank a row of its own. */
#ifndef TOPK_SRC_CUDA_RANKS_KERNELS_H
#define TOPK_SRC_CUDA_RANKS_KERNELS_H

#include "../grid.h"
#include "../rows.h"

enum { RANKS_THREADS = 256, RANKS_BLOCKS_PER_SM = 8 };

/* An array of the results that is NULL is not written. Their extents are as wide as `wide` says. */
struct ranks_args {
    struct row_args rows; /* the caller's, without k */
    const void *k;        /* the caller's, or NULL */
    int64_t ranks, k_pitch;
    bool wide;
    void *begins, *ends, *own_k; /* rows x ranks */
};

#ifdef __cplusplus
extern "C" {
#endif

int topk_cuda_launch_ranks(const struct launch_grid *grid, const struct ranks_args *args);
int topk_cuda_load_ranks(void);

#ifdef __cplusplus
}
#endif
#endif
