/* SPDX-License-Identifier: Apache-2.0
 * What the kernels of route are given, and who launches them. */
#ifndef TOPK_SRC_CUDA_ROUTE_KERNELS_H
#define TOPK_SRC_CUDA_ROUTE_KERNELS_H

#include "../grid.h"
#include "../rows.h"
#include "scores.h"
#include "sizes.h"

struct route_args {
    struct row_args rows; /* length_max experts, k_max results */
    const float *bias;    /* or NULL */
    float *weights;       /* rows x k_max, or NULL */
    uint32_t wanted;      /* results of a row */
    uint32_t groups;      /* 0: none */
    uint32_t groups_kept;
    uint32_t group_size;
    uint32_t pieces_of_group;  /* groups.cuh. 0: it is not whole pieces, or there are no groups */
    uint32_t piece_reciprocal; /* of pieces_of_group, by 2^ROUTE_RECIPROCAL_BITS and rounded up */
    bool by_sigmoid;           /* is the score; else it is the logit */
    bool has_biases;           /* scores take the lists of biases */
    bool weigh_sigmoid;        /* else softmax */
    uint32_t nan_key;          /* of a score that is NaN */
    float factor;
    struct logit_format format;
};

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of one element width. */
struct route_kernels {
    int (*prepare)(void);
    /* `row_class` counts the kernels of sizes.h from 0. */
    int (*row)(const struct launch_grid *grid, const struct route_args *args, uint32_t row_class);
    /* What pieces_of_group are for such rows. */
    uint32_t (*pieces_of_group)(const struct route_args *args, uint32_t row_class);
};

extern const struct route_kernels topk_cuda_route_kernels_8, topk_cuda_route_kernels_16,
    topk_cuda_route_kernels_32, topk_cuda_route_kernels_64;

#ifdef __cplusplus
}
#endif
#endif
