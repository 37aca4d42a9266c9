/* SPDX-License-Identifier: Apache-2.0
 * What bracket decides about a problem, and what its run is told of that. */
#ifndef TOPK_SRC_CUDA_BRACKET_PLAN_H
#define TOPK_SRC_CUDA_BRACKET_PLAN_H

#include "../leaf.h"
#include "kernels.h"

/* Fields that struct bracket_args has, too, mean the same there. */
struct bracket_plan {
    const struct bracket_kernel *kernel;
    struct decode_args order;
    bool is_empty;        /* there is nothing to do */
    struct target target; /* but for its entries, which lie in the workspace */
    bool is_uneven;       /* rows differ in length, also if the device has no lengths of its own */
    uint32_t blocks_of_row, sample_groups, room;
    bool is_pair, draws_more;
    uint32_t rank;       /* unless the device has lengths or k of its own */
    int64_t grid_blocks; /* at most */
};

/* The buffers of a call. */
struct bracket_layout {
    struct bracket_state *states;
    uint64_t *entries, *entries_low;
    struct stored_lists stored;
    struct match *found_match;
    size_t bytes;
};

/* `workspace`: NULL to measure. */
struct bracket_layout topk_cuda_bracket_lay_out(const struct plan *plan, const struct bracket_plan *decided,
                                                void *workspace);

/* struct method, run. */
int topk_cuda_bracket_run(const struct call *call);

#endif
