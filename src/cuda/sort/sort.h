/* SPDX-License-Identifier: Apache-2.0
 * The end of other methods' calls: results too many for one block are put in order by the kernels of sort. */
#ifndef TOPK_SRC_CUDA_SORT_SORT_H
#define TOPK_SRC_CUDA_SORT_SORT_H

#include "../../method.h"
#include "../../workspace.h"

/* What a method has found: of each row, min(k, length) elements, but no more than counts[row], in the order
 * of their positions. */
struct found {
    void *elements;  /* rows x k_max, the elements' bits */
    void *positions; /* rows x k_max, uint64_t if `wide`, else uint32_t */
    bool wide;
    const int64_t *counts; /* on the device; NULL: there is no such limit */
    void *scratch;         /* of the sort */
};

/* Takes the buffers from the arena. */
struct found topk_cuda_sort_found_take(struct arena *arena, const struct plan *plan, bool wide);

/* Sorts what was found, best first and stably, and writes the call's outputs, padding included. 0 or a
 * cudaError_t. */
int topk_cuda_sort_found(const struct call *call, const struct found *found);

#endif
