/* SPDX-License-Identifier: Apache-2.0
 * What the methods of this backend share on the host. */
#ifndef TOPK_SRC_CUDA_LEAF_H
#define TOPK_SRC_CUDA_LEAF_H

#include "../context.h"
#include "costs.h"
#include "device.h"
#include "grid.h"

/* context->leaf */
struct cuda_leaf {
    struct device_info device;
    struct device_handle handle;
    char features[320];
};

static inline const struct device_info *device_of(const topk_context *context) {
    return &((const struct cuda_leaf *)context->leaf)->device;
}

/* Methods know what an H200 takes. These are the microseconds that another GPU is expected to take: to move
 * bytes, by what an H200 moves in one; for work that all multiprocessors share, by what an H200 does in one;
 * and for one block's work, by the time of a block of an H200. Launches take as long everywhere. */
static inline double move_us(const topk_context *context, double bytes, double of_h200_per_us) {
    return bytes / (of_h200_per_us * device_of(context)->memory_speed);
}

static inline double work_us(const topk_context *context, double work, double of_h200_per_us) {
    const struct device_info *device = device_of(context);
    return work / (of_h200_per_us * device->sm_speed * device->sms / DEVICE_SMS_OF_H200);
}

static inline double block_us(const topk_context *context, double of_h200_us) {
    return of_h200_us / device_of(context)->sm_speed;
}

/* Calls work(of) with the context's device current; it returns 0 or a cudaError_t. */
topk_status topk_cuda_do(const topk_context *context, int (*work)(const void *), const void *of);

/* struct backend, run. */
topk_status topk_cuda_run(const struct call *call);

/* struct backend, allocate and release. */
topk_status topk_cuda_allocate(const topk_context *context, size_t bytes, void **memory);
topk_status topk_cuda_release(const topk_context *context, void *memory);

/* Kernels are compiled for elements of 8, 16, 32 and 64 bits: which of the four tables serves the plan. */
enum { WIDTHS = 4 };
static inline int width_of(const struct plan *plan) {
    return __builtin_ctzll(plan->element_bytes);
}

/* Whether elements have to match a predicate, and rank. */
static inline bool has_predicate(const struct plan *plan) {
    return operation_filters(plan->operation);
}

static inline int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t greatest(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static inline int64_t divide_up(int64_t a, int64_t b) {
    return a / b + (a % b != 0);
}

/* At most `blocks_max` blocks: each goes on to the work of those that there is no room for. */
static inline struct launch_grid grid_of(const struct call *call, int64_t blocks, int64_t blocks_max,
                                         int64_t threads) {
    return (struct launch_grid){.blocks = (uint32_t)least(blocks, blocks_max),
                                .rows = 1,
                                .threads = (uint32_t)threads,
                                .stream = call->stream};
}

#endif
