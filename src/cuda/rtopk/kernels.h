/* SPDX-License-Identifier: Apache-2.0
 * What the kernels of rtopk are given, and who launches them. */
#ifndef TOPK_SRC_CUDA_RTOPK_KERNELS_H
#define TOPK_SRC_CUDA_RTOPK_KERNELS_H

#include "../grid.h"
#include "../rows.h"
#include "sizes.h"

struct rtopk_args {
    struct row_args rows;
    struct decode_args decode;
    struct kth_outputs kth;
    bool is_kth;
    bool is_sorted;   /* results go best first */
    uint32_t slots;   /* of a warp's list of positions */
    uint32_t entries; /* of a warp's list of entries: a power of two, or 0 if none is sorted there */
};

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of one element width. */
struct rtopk_kernels {
    int (*prepare)(void);
    /* `row_class` counts from 0: each lane keeps RTOPK_ITEMS_0 elements, RTOPK_ITEMS_1, and so on. */
    int (*row)(const struct launch_grid *grid, const struct rtopk_args *args, uint32_t row_class);
};

extern const struct rtopk_kernels topk_cuda_rtopk_kernels_8, topk_cuda_rtopk_kernels_16,
    topk_cuda_rtopk_kernels_32, topk_cuda_rtopk_kernels_64;

#ifdef __cplusplus
}
#endif
#endif
