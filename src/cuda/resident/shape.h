/* SPDX-License-Identifier: Apache-2.0
 * How the blocks of a call are made: by the problem, and by where the rows lie. */
#ifndef TOPK_SRC_CUDA_RESIDENT_SHAPE_H
#define TOPK_SRC_CUDA_RESIDENT_SHAPE_H

#include "../leaf.h"
#include "kernels.h"

struct block_shape {
    uint32_t kernel; /* by the elements that each thread keeps: kernels.h */
    int64_t items;   /* these */
    int64_t threads;
};

extern const struct knob topk_cuda_resident_knobs[];

/* The elements that a block holds at most. */
int64_t topk_cuda_resident_row_max(const struct plan *plan);

bool topk_cuda_resident_is_sorted(const struct plan *plan);

/* Room for entries that a block needs; more than RESIDENT_SORT_MAX cannot be sorted. */
int64_t topk_cuda_resident_entries(const struct plan *plan);

/* That a block issues for a row. */
double topk_cuda_resident_instructions(const struct plan *plan, const struct block_shape *shape);

/* `aligned`: all rows begin at multiples of 16 bytes. */
struct block_shape topk_cuda_resident_shape(const topk_context *context, const struct plan *plan,
                                            bool aligned);

#endif
