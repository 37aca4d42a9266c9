/* SPDX-License-Identifier: Apache-2.0
 * What the kernels of an exact select_where are given, and who launches them. */
#ifndef TOPK_SRC_CUDA_RTOPK_WHERE_H
#define TOPK_SRC_CUDA_RTOPK_WHERE_H

#include "../predicate/args.h"
#include "kernels.h"

struct where_args {
    struct rtopk_args of_row;
    struct predicate_args predicate;
};

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of one element width. `row_class` counts from 0: RTOPK_ITEMS_1 elements for each lane, and so
 * on. */
struct where_kernels {
    int (*prepare)(void);
    int (*row)(const struct launch_grid *grid, const struct where_args *args, uint32_t row_class);
};

extern const struct where_kernels topk_cuda_rtopk_where_8, topk_cuda_rtopk_where_16, topk_cuda_rtopk_where_32,
    topk_cuda_rtopk_where_64;

#ifdef __cplusplus
}
#endif
#endif
