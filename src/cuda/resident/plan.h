/* SPDX-License-Identifier: Apache-2.0
 * What resident decides about a problem, and what its run is told of that. */
#ifndef TOPK_SRC_CUDA_RESIDENT_PLAN_H
#define TOPK_SRC_CUDA_RESIDENT_PLAN_H

#include "../leaf.h"
#include "cluster.h"
#include "stream.h"

/* The kernels of one element width. */
struct resident_set {
    const struct resident_kernels *block;
    const struct resident_where_kernels *where;
    const struct resident_cluster_kernels *cluster;
    const struct resident_stream_kernels *stream;
};

/* How the blocks of a call are made. */
struct resident_shape {
    uint32_t kernel; /* by the elements that each thread keeps: kernels.h */
    int64_t items;   /* these */
    int64_t threads; /* of a block; 0: no blocks hold a row and its results */
    int64_t cluster; /* blocks that share a row: 1, or as many as a cluster has */
    /* Entries of a row that are sorted, at most; of rows that are too long, some number. Whether they are too
     * many to be ranked by counting. And slots for entries that a block needs. */
    int64_t sorted;
    bool is_merged;
    uint32_t entries;
    double instructions; /* that a block issues for a row */
};

struct resident_plan {
    const struct resident_set *kernels;
    struct decode_args order;
    bool is_empty; /* there is nothing to do */
    bool is_kth, is_sorted, by_position, is_streamed;
    int64_t results;     /* of a row, at most */
    bool may_be_aligned; /* rows have a stride, and begin at multiples of 16 bytes if the first one does */
    int64_t grid_rows;   /* of a grid, at most: blocks or clusters go on to other rows */
    struct resident_shape shapes[2]; /* [1]: all rows begin at multiples of 16 bytes */
};

/* What does not depend on where the buffers are. */
static inline struct resident_args resident_args_of(const struct resident_plan *decided,
                                                    const struct resident_shape *shape) {
    const int64_t held = decided->is_kth || decided->is_streamed ? 0 : shape->threads * shape->items;
    return (struct resident_args){.is_kth = decided->is_kth,
                                  .is_sorted = decided->is_sorted,
                                  .by_position = decided->by_position,
                                  .positions = (uint32_t)least(decided->results, held),
                                  .entries = shape->entries,
                                  .has_buckets = shape->is_merged};
}

/* What the caller's tuning says. */
struct resident_wishes {
    int64_t threads, cluster; /* 0: nothing */
    bool tells_stream;
    int64_t stream; /* if it tells */
};

/* Why blocks cannot hold a row. `given`: blocks that the caller wants, or 0. */
const char *topk_cuda_resident_refuse_length(const topk_context *context, const struct plan *plan,
                                             int64_t given);

/* The shapes for the problem, or why even the most blocks cannot hold a row. */
const char *topk_cuda_resident_shapes(const topk_context *context, const struct plan *plan,
                                      const struct resident_wishes *wishes, struct resident_shape shapes[2]);

/* struct method, run. */
int topk_cuda_resident_run(const struct call *call);

#endif
