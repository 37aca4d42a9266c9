/* SPDX-License-Identifier: Apache-2.0
 * The kernel that renumbers positions. */
#ifndef TOPK_SRC_CUDA_TRANSFER_KERNELS_H
#define TOPK_SRC_CUDA_TRANSFER_KERNELS_H

#include "../grid.h"
#include "topk_transfer.h"

enum { RENUMBER_THREADS = 256, RENUMBER_BLOCKS_PER_SM = 8 };

struct renumber_args {
    topk_renumbering how;
    const void *from;
    void *to;
};

#ifdef __cplusplus
extern "C" {
#endif

int topk_cuda_prepare_renumber(void);
int topk_cuda_launch_renumber(const struct launch_grid *grid, const struct renumber_args *args);

#ifdef __cplusplus
}
#endif
#endif
