/* SPDX-License-Identifier: Apache-2.0
 * The launches of a call of merge. */
#ifndef TOPK_SRC_CUDA_MERGE_LAUNCHES_H
#define TOPK_SRC_CUDA_MERGE_LAUNCHES_H

#include "../methods.h"

#include "kernels.h"

/* What is decided, once. */
struct shape {
    const struct merge_kernels *kernels;
    bool has_order;  /* results are not in any order */
    int64_t merges;  /* of runs, one after the other */
    int64_t states;  /* rows that blocks select from together; 0: each has one block */
    size_t elements; /* rows x k_max */
    size_t rows;
    size_t element_bytes, index_bytes;
};

/* Launches of a call, one after the other. */
struct launches {
    const struct call *call;
    const struct shape *shape;
    struct merge_args args;
    bool dependent; /* the next launch may be: the one before it is ours */
};

struct launch_grid topk_cuda_merge_grid(struct launches *l, int64_t blocks, int64_t threads);

/* Sorted lists of each row. */
int topk_cuda_merge_lists(struct launches *l);

/* Blocks that share the results of each of `pieces`, at most `results`: more than these need, if
 * multiprocessors are left, for results and for candidates that a cluster looks at. */
int64_t topk_cuda_merge_parts(const struct launches *l, int64_t pieces, int64_t results, int64_t candidates);

/* Launches the kernel that shares the results of rows or groups of runs: parts of each, which have at most
 * `results` together. */
int topk_cuda_share_lists(struct launches *l, int64_t pieces, int64_t parts, int64_t results,
                          int64_t cluster);

#endif
