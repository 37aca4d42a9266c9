/* SPDX-License-Identifier: Apache-2.0
 * What the kernels of a select_where are given, and who launches them. */
#ifndef TOPK_SRC_CUDA_RESIDENT_WHERE_H
#define TOPK_SRC_CUDA_RESIDENT_WHERE_H

#include "../predicate/args.h"
#include "kernels.h"

struct resident_where_args {
    struct resident_args of_row;
    struct predicate_args predicate;
};

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of one element width. */
struct resident_where_kernels {
    int (*prepare)(uint32_t shared_bytes_max);
    /* `shape` as in kernels.h, from RESIDENT_WHERE_SHAPE on. */
    int (*row)(const struct launch_grid *grid, const struct resident_where_args *args, uint32_t shape);
};

extern const struct resident_where_kernels topk_cuda_resident_where_8, topk_cuda_resident_where_16,
    topk_cuda_resident_where_32, topk_cuda_resident_where_64;

#ifdef __cplusplus
}
#endif
#endif
