/* SPDX-License-Identifier: Apache-2.0
 * The kernels that hold a row in a cluster of blocks, and who launches them. */
#ifndef TOPK_SRC_CUDA_RESIDENT_CLUSTER_H
#define TOPK_SRC_CUDA_RESIDENT_CLUSTER_H

#include "where.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of one element width. Each thread keeps RESIDENT_ITEMS_2 elements. */
struct resident_cluster_kernels {
    /* *blocks: of the largest cluster that the device has room for, 1 if it has none. */
    int (*prepare)(uint32_t shared_bytes_max, uint32_t *blocks);
    /* Each block of `rows` stands for a cluster of that many. */
    int (*row)(const struct launch_grid *rows, const struct resident_args *args, uint32_t cluster);
    int (*where)(const struct launch_grid *rows, const struct resident_where_args *args, uint32_t cluster);
};

extern const struct resident_cluster_kernels topk_cuda_resident_cluster_8, topk_cuda_resident_cluster_16,
    topk_cuda_resident_cluster_32, topk_cuda_resident_cluster_64;

#ifdef __cplusplus
}
#endif
#endif
