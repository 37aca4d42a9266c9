/* SPDX-License-Identifier: Apache-2.0
 * How the blocks of a call are made: by the problem, and by where the rows lie. */
#ifndef TOPK_SRC_CUDA_RESIDENT_SHAPE_H
#define TOPK_SRC_CUDA_RESIDENT_SHAPE_H

#include "../leaf.h"
#include "kernels.h"

struct block_shape {
    uint32_t kernel; /* by the elements that each thread keeps: kernels.h */
    int64_t items;   /* these */
    int64_t threads; /* of a block */
    int64_t cluster; /* blocks that share a row: 1, or as many as a cluster has */
};

extern const struct knob topk_cuda_resident_knobs[];

/* Blocks that share a row, at most: as many as the device has room for in a cluster, or 1. */
int64_t topk_cuda_resident_cluster_max(const topk_context *context, const struct plan *plan);

/* As the caller has set them; 0: not set. */
int64_t topk_cuda_resident_given_cluster(const struct plan *plan);

/* Whether rows are to be streamed, as the caller has set it; NULL: not set. */
const int64_t *topk_cuda_resident_given_stream(const struct plan *plan);

/* The elements that so many blocks hold at most. */
int64_t topk_cuda_resident_row_max(const struct plan *plan, int64_t cluster);

bool topk_cuda_resident_is_sorted(const struct plan *plan);

/* Entries of a row that are sorted, at most; of rows that are too long, some number. Whether they are too
 * many to be ranked by counting. And the room for entries that a block needs. */
int64_t topk_cuda_resident_sorted_entries(const struct plan *plan, int64_t cluster);
bool topk_cuda_resident_is_merged(const struct plan *plan, int64_t cluster);
int64_t topk_cuda_resident_entries(const struct plan *plan, int64_t cluster);

/* That a block issues for a row. */
double topk_cuda_resident_instructions(const struct plan *plan, const struct block_shape *shape);

/* `aligned`: all rows begin at multiples of 16 bytes. No threads: no blocks hold a row and its results. */
struct block_shape topk_cuda_resident_shape(const topk_context *context, const struct plan *plan,
                                            bool aligned);

#endif
