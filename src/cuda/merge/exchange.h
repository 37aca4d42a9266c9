/* SPDX-License-Identifier: Apache-2.0
 * What exchange.cuh is told of the ranks. */
#ifndef TOPK_SRC_CUDA_MERGE_EXCHANGE_H
#define TOPK_SRC_CUDA_MERGE_EXCHANGE_H

#include <string.h>

#include "../../peer.h"
#include "kernels.h"

static inline struct exchange_args exchange_args_of(const struct peer_lists *lists,
                                                    const struct merge_args *merge) {
    const topk_peer_group *g = &lists->run.group;
    struct exchange_args args = {.merge = *merge,
                                 .values = lists->values,
                                 .indices = lists->indices,
                                 .rows = lists->rows,
                                 .first_row = lists->first_row,
                                 .block_rows = lists->block_rows,
                                 .rank = (uint32_t)g->rank,
                                 .ranks = (uint32_t)g->ranks,
                                 .root = lists->root,
                                 .slots = peer_list_slots(g),
                                 .abort = g->abort,
                                 .timeout_ns = peer_timeout_ns(g)};
    memcpy(args.lists, g->lists, (size_t)g->ranks * sizeof *args.lists);
    memcpy(args.flags, g->flags, (size_t)g->ranks * sizeof *args.flags);
    return args;
}

#endif
