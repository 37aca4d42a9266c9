/* SPDX-License-Identifier: Apache-2.0
 * Sorting whole rows by a radix sort: the baseline of the GPU methods, and what serves when nothing else can.
 * Also the end of other methods' calls: results too many for one block are put in order here. */
#ifndef TOPK_SRC_CUDA_SORT_SORT_H
#define TOPK_SRC_CUDA_SORT_SORT_H

#include "../../method.h"
#include "../../workspace.h"

const char *topk_sort_refuse(const topk_context *context, const struct plan *plan);
double topk_sort_cost_us(const topk_context *context, const struct plan *plan);
size_t topk_sort_workspace_bytes(const topk_context *context, const struct plan *plan);
topk_status topk_sort_run(const struct call *call);

/* Loads the kernels on the current device; 0 or a cudaError_t. */
int topk_sort_prepare(void);

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
struct found topk_sort_found_take(struct arena *arena, const struct plan *plan, bool wide);

/* Sorts what was found, best first and stably, and writes the call's outputs, padding included. 0 or a
 * cudaError_t. */
int topk_sort_found(const struct call *call, const struct found *found);

#endif
