/* SPDX-License-Identifier: Apache-2.0
 * What the kernels of gridselect are given, and who launches them. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_KERNELS_H
#define TOPK_SRC_CUDA_GRIDSELECT_KERNELS_H

#include "../grid.h"
#include "../predicate/args.h"
#include "../rows.h"
#include "sizes.h"

/* What blocks that share a row tell each other. */
struct gridselect_shared_rows {
    /* Of each row: what its blocks send to the last of them, in any order, up to `capacity` each. */
    uint64_t *entries, *entries_low;
    /* Zero before the launch. Words are complements of an entry's first word. */
    uint32_t *sent;    /* of each row: how many of these entries there are */
    uint32_t *tickets; /* of each row: blocks that are done */
    uint64_t *bounds;  /* of each row: the best bound that a block has told */
    uint64_t *parts;   /* of each row and block: the entry that ends the block's part */
};

struct gridselect_args {
    struct row_args rows;
    struct predicate_args predicate;
    uint32_t slots; /* of a warp's ring */
    uint32_t
        row_groups; /* of 16 bytes, of a slot that holds a whole row: where each warp has rows of its own */
    uint32_t capacity;    /* of a list: the most results that a row has */
    uint32_t part;        /* results of a block that it tells the others of; 0: it tells none */
    bool has_lane_queues; /* a queue for each lane, not one for the warp */
    bool is_hashed;       /* blocks visit tiles in a hashed order */
    uint64_t seed;        /* of that */
    struct gridselect_shared_rows shared;
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
    /* The same where each warp has rows of its own: the grid has one dimension. */
    uint32_t (*lone_shared_bytes)(const struct gridselect_args *args, uint32_t threads);
    int (*select_lone)(const struct launch_grid *grid, const struct gridselect_args *args);
};

extern const struct gridselect_kernels topk_cuda_gridselect_kernels_8, topk_cuda_gridselect_kernels_16,
    topk_cuda_gridselect_kernels_32, topk_cuda_gridselect_kernels_64;

#ifdef __cplusplus
}
#endif
#endif
