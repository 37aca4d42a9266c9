/* SPDX-License-Identifier: Apache-2.0
 * How bracket looks for the results of a row: how many blocks share it, how much of it they sample, and
 * whether a pair of thresholds takes the place of one. */
#ifndef TOPK_SRC_CUDA_BRACKET_SEARCH_H
#define TOPK_SRC_CUDA_BRACKET_SEARCH_H

#include "../leaf.h"
#include "kernels.h"

/* The kernel that serves the plan; NULL: the device has too little shared memory for any. */
static inline const struct bracket_kernel *bracket_kernel_of(const topk_context *context,
                                                             const struct plan *plan) {
    return device_of(context)->bracket[width_of(plan)];
}

/* How a k-th element is found between a pair of thresholds (pair.cuh). */
struct pair_plan {
    uint32_t groups; /* of a thread's first sample */
    bool draws_more;
    double between; /* elements of a row that are expected between the pair of the last sample */
    double reads;   /* of a row, with its larger sample */
};

/* How results are looked for. */
struct bracket_search {
    uint32_t blocks; /* of a row */
    enum target_kind target;
    uint32_t groups;   /* of a thread's sample */
    double candidates; /* of a row, that are expected to reach the threshold of such a sample */
    bool is_pair;
    struct pair_plan pair; /* if it is one */
};

/* More of a page than this is too often more than it holds. A larger sample sees to that, as far as it can.
 */
#define BRACKET_FILL_MAX 0.6

struct bracket_search topk_cuda_bracket_search(const topk_context *context, const struct plan *plan);

/* Its parts: blocks that share a row; where results go; the rank of the sample that is the threshold, in rows
 * of the greatest length; how much of a block's page its candidates are expected to take. */
uint32_t topk_cuda_bracket_blocks(const topk_context *context, const struct plan *plan);
enum target_kind topk_cuda_bracket_target(const struct plan *plan);
double topk_cuda_bracket_rank(const struct plan *plan, uint32_t groups);
double topk_cuda_bracket_fill(const struct bracket_kernel *kernel, double candidates, uint32_t blocks);

#endif
