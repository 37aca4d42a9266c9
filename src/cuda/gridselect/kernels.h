/* SPDX-License-Identifier: Apache-2.0
 * What the kernels of gridselect are given, and who launches them. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_KERNELS_H
#define TOPK_SRC_CUDA_GRIDSELECT_KERNELS_H

#include "../grid.h"
#include "../predicate/args.h"
#include "../rows.h"
#include "sizes.h"

/* What blocks that share a row tell each other. Of each row and block, in this order: */
struct gridselect_shared_rows {
    uint64_t *entries, *entries_low; /* `capacity` of the best that a block has found, in order */
    uint32_t *counts;                /* how many these are */
    /* Zero before the launch. Words are complements of an entry's first word. */
    uint32_t *tickets; /* of each row: blocks that are done */
    uint64_t *bounds;  /* of each row: the best bound that a block has told */
    uint64_t *parts;   /* of each row and block: the entry that ends the block's part */
};

struct gridselect_args {
    struct row_args rows;
    uint32_t capacity;    /* of a list: the most results that a row has */
    uint32_t part;        /* results of a block that it tells the others of; 0: it tells none */
    bool has_lane_queues; /* a queue for each lane, not one for the warp */
    bool is_hashed;       /* blocks visit tiles in a hashed order */
    uint64_t seed;        /* of that */
    struct gridselect_shared_rows shared;
};

struct gridselect_where_args {
    struct gridselect_args of_row;
    struct predicate_args predicate;
};

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of one element width. The grid has a block for each part of a row, and a second dimension for
 * the rows. */
struct gridselect_kernels {
    int (*prepare)(uint32_t shared_bytes_max);
    uint32_t (*shared_bytes)(const struct gridselect_args *args, bool two_words, uint32_t threads,
                             uint32_t blocks);
    int (*select)(const struct launch_grid *grid, const struct gridselect_args *args, bool two_words);
    int (*where)(const struct launch_grid *grid, const struct gridselect_where_args *args, bool two_words);
};

extern const struct gridselect_kernels topk_cuda_gridselect_kernels_8, topk_cuda_gridselect_kernels_16,
    topk_cuda_gridselect_kernels_32, topk_cuda_gridselect_kernels_64;

#ifdef __cplusplus
}
#endif
#endif
