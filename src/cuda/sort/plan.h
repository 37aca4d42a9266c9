/* SPDX-License-Identifier: Apache-2.0
 * What sort decides about a problem, and what its run is told of that. */
#ifndef TOPK_SRC_CUDA_SORT_PLAN_H
#define TOPK_SRC_CUDA_SORT_PLAN_H

#include "../../workspace.h"
#include "../leaf.h"
#include "kernels.h"

/* How lists are sorted: whole rows, or what was found of each. */
struct sort_plan {
    bool is_found;
    bool is_kth;
    bool wide, wide_states; /* in struct sort_args, too */
    bool one_block;         /* for each row */
    uint32_t passes;        /* of all digits */
    int64_t length;         /* of the longest list */
    int64_t threads, resident_blocks;
    bool is_filtered;   /* a threshold leaves most elements out */
    int64_t room;       /* of each list in the buffers */
    int64_t tiles;      /* of each list */
    int64_t row_tiles;  /* of each row, while it is filtered */
    int64_t group_rows; /* sorted together */
};

/* Between passes elements go back and forth. Of what is sorted once and for all there is no second buffer,
 * and the second buffer of found elements is where they were found. Survivors of a threshold begin in the
 * second buffer. */
struct sort_buffers {
    struct sort_lists lists[2];
    void *states[2];
    uint64_t *counts, *tickets;
    struct sort_filter filter;
    void *zeroed; /* all but the lists and states[1] is zero before the first launch of a group */
    size_t zeroed_bytes;
};

/* Takes the buffers of a group. */
struct sort_buffers topk_cuda_sort_take(struct arena *arena, const struct plan *plan,
                                        const struct sort_plan *s);

/* struct method, run. */
int topk_cuda_sort_run(const struct call *call);

#endif
