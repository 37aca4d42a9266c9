/* SPDX-License-Identifier: Apache-2.0
 * What the kernels of resident are given, and who launches them. */
#ifndef TOPK_SRC_CUDA_RESIDENT_KERNELS_H
#define TOPK_SRC_CUDA_RESIDENT_KERNELS_H

#include "../grid.h"
#include "../rows.h"
#include "sizes.h"

struct resident_args {
    struct row_args rows;
    struct decode_args decode;
    struct kth_outputs kth;
    bool is_kth;
    bool is_sorted;     /* results go best first */
    bool by_position;   /* or by position, which other kernels do */
    uint32_t positions; /* slots of the list of positions */
    uint32_t entries;   /* slots of the list of entries */
    bool has_buckets;   /* and shared memory to sort them in buckets: more than RESIDENT_RANKED go there */
};

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of one element width. */
struct resident_kernels {
    int (*prepare)(uint32_t shared_bytes_max);
    uint32_t (*shared_bytes)(const struct resident_args *args, uint32_t threads);
    /* `shape` counts from 0: each thread keeps RESIDENT_ITEMS_0 elements, RESIDENT_ITEMS_1, and so on. */
    int (*row)(const struct launch_grid *grid, const struct resident_args *args, uint32_t shape);
};

extern const struct resident_kernels topk_cuda_resident_kernels_8, topk_cuda_resident_kernels_16,
    topk_cuda_resident_kernels_32, topk_cuda_resident_kernels_64;

#ifdef __cplusplus
}
#endif
#endif
