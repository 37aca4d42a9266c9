/* SPDX-License-Identifier: Apache-2.0
 * The kernels that put lists of results in order. */
#ifndef TOPK_SRC_CUDA_ORDERING_KERNELS_H
#define TOPK_SRC_CUDA_ORDERING_KERNELS_H

#include "../grid.h"
#include "../rows.h"
#include "sizes.h"

/* A list has k_max slots for each row: its results in any order, and position -1 behind the last one. */
struct ordering_args {
    struct row_args rows;
    struct decode_args decode;
    const void *elements;  /* their bits; NULL: only positions count */
    const void *positions; /* int64_t if `wide`, else int32_t */
    bool wide;
    bool by_position;  /* else best first */
    bool may_be_fewer; /* a row may have fewer results than min(k, length) */
    bool two_words;    /* entries have two words (entries.cuh) */
    uint32_t seed;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Of one element width. */
struct ordering_kernels {
    /* Also finds how many clusters of each size the device holds at once: device.h. */
    int (*prepare)(uint32_t shared_bytes_max, uint32_t clusters[2][ORDERING_CLUSTER_MAX + 1]);
    /* Sorts each row's list in a cluster of `cluster` blocks, and writes the results. grid->blocks counts
     * clusters. */
    int (*sort)(const struct launch_grid *grid, const struct ordering_args *args, uint32_t cluster);
    /* Writes results whose positions are sorted. */
    int (*gather)(const struct launch_grid *grid, const struct ordering_args *args);
};

extern const struct ordering_kernels topk_cuda_ordering_kernels_8, topk_cuda_ordering_kernels_16,
    topk_cuda_ordering_kernels_32, topk_cuda_ordering_kernels_64;

#ifdef __cplusplus
}
#endif
#endif
