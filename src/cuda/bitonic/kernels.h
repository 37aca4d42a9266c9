/* SPDX-License-Identifier: Apache-2.0
 * The kernel of bitonic, as the host sees it. */
#ifndef TOPK_SRC_CUDA_BITONIC_KERNELS_H
#define TOPK_SRC_CUDA_BITONIC_KERNELS_H

#include "../grid.h"
#include "../rows.h"
#include "sizes.h"

/* Sorted lists of a run's entries each, `count` for each row. */
struct bitonic_lists {
    uint64_t *entries, *entries_low; /* the second words, if entries have two */
    int64_t count;
};

struct bitonic_args {
    struct row_args rows;
    bool has_successor;        /* the next launch is the same call's: it may start early */
    uint32_t tile_log2;        /* entries in shared memory */
    uint32_t run_log2;         /* of a sorted run: at least k_max */
    struct bitonic_lists from; /* what is merged; with `count` 0, the rows */
    struct bitonic_lists to;   /* where each block puts a list; with `count` 0, the outputs */
};

#ifdef __cplusplus
extern "C" {
#endif

/* The kernel of one element width. The grid has some blocks for each row, and a second dimension for the
 * rows. */
struct bitonic_kernels {
    int (*prepare)(uint32_t shared_bytes_max);
    uint32_t (*shared_bytes)(const struct bitonic_args *args);
    /* 0 or a cudaError_t. */
    int (*select)(const struct launch_grid *grid, const struct bitonic_args *args);
};

extern const struct bitonic_kernels topk_cuda_bitonic_kernels_8, topk_cuda_bitonic_kernels_16,
    topk_cuda_bitonic_kernels_32, topk_cuda_bitonic_kernels_64;

#ifdef __cplusplus
}
#endif
#endif
