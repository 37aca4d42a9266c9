/* SPDX-License-Identifier: Apache-2.0
 * What gridselect decides about a problem, and what its run is told of that. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_PLAN_H
#define TOPK_SRC_CUDA_GRIDSELECT_PLAN_H

#include "../leaf.h"
#include "kernels.h"

struct gridselect_shape {
    bool two_words;
    bool is_lone;                    /* each warp has rows of its own */
    bool has_lane_queues, is_hashed; /* as in struct gridselect_args */
    uint32_t row_groups;             /* likewise */
    int64_t capacity;                /* of a list */
    int64_t warps;                   /* of a block */
    int64_t slots;                   /* of a warp's ring */
    int64_t parts;                   /* blocks that share a row */
};

struct gridselect_plan {
    const struct gridselect_kernels *kernels;
    bool is_empty; /* there is nothing to do */
    struct gridselect_shape shape;
    int64_t grid_blocks, grid_rows; /* the two dimensions of the grid */
};

/* Results of a block that it tells the others of, if that helps: about twice its share of them, since the
 * better half of the blocks may then tell the bound. */
static inline uint32_t gridselect_part_of(const struct gridselect_shape *shape) {
    const int64_t part = 2 * shape->capacity / shape->parts + 1;
    return shape->parts > 1 && shape->parts <= GRIDSELECT_PARTS_MAX && part <= GRIDSELECT_PART_MAX
               ? (uint32_t)part
               : 0;
}

/* What does not depend on where the buffers are. */
static inline struct gridselect_args gridselect_args_of(const struct gridselect_shape *shape) {
    return (struct gridselect_args){.capacity = (uint32_t)shape->capacity,
                                    .slots = (uint32_t)shape->slots,
                                    .row_groups = shape->row_groups,
                                    .part = gridselect_part_of(shape),
                                    .has_lane_queues = shape->has_lane_queues,
                                    .is_hashed = shape->is_hashed};
}

/* The buffers of a call. */
struct gridselect_layout {
    struct gridselect_shared_rows shared;
    struct match *match; /* of bounds that the device reads */
    void *zeroed;        /* shared.bounds, parts, tickets and sent */
    size_t zeroed_bytes;
    size_t bytes;
};

/* `workspace`: NULL to measure. */
struct gridselect_layout topk_cuda_gridselect_lay_out(const struct plan *plan,
                                                      const struct gridselect_shape *shape, void *workspace);

/* struct method, run. */
int topk_cuda_gridselect_run(const struct call *call);

#endif
