/* SPDX-License-Identifier: Apache-2.0
 * How a run divides its workspace. Size and use come from one function. */
#ifndef TOPK_SRC_DIST_LAYOUT_H
#define TOPK_SRC_DIST_LAYOUT_H

#include "plan.h"

struct buffers {
    void *values, *indices;         /* the rank's lists, list_max slots of each row */
    void *got_values, *got_indices; /* of each rank a block of block_rows rows */
    void *lengths;                  /* of the lists that were got: extents, ranks x got_rows */
    void *ks;                       /* k of each row, in calls of the core: extents */
    void *winners;                  /* in place or by nodes: a row's results, winners_max of each */
    void *won_values;               /* and their elements: by nodes, and on a device in place */
    /* On a device: which of these, and of the lists that were got, are the rank's own */
    void *won_marks, *marks;
    /* By nodes these are places + 1, where lists are of the rank's node, and 0 elsewhere; of a leader also
     * for its node's list, and for all nodes' lists. And a bit of each result: whether it is the rank's
     */
    void *node_marks, *met_marks, *own_mask;
    /* Of a leader: its node's list, node_max slots of each row; the same by owner, node_rows rows for each
     * node; the lists of all nodes, as many rows of each. And k of each row, if the caller gives it: extents
     */
    void *node_values, *node_indices, *owned_values, *owned_indices, *met_values, *met_indices;
    void *node_ks;
    /* exchange_kth: the k-th of each row of the rank's lists, of all ranks, and the best one */
    void *own_kth, *own_kth_at, *all_kth, *all_kth_at, *best_kth, *best_kth_at;
    int64_t *sent;   /* how many candidates each rank sends of each row, rank after rank */
    int64_t *blocks; /* of each rank the bytes that go there, and behind these the bytes that come */
    void *pairs;     /* of each row an element of its list, and that best one */
    int32_t *winner; /* of each pair */
    int64_t *k, *better, *equal, *own_better, *own_equal, *own_k, *before; /* of each row */
    int64_t *descents; /* of each row: where the table of positions does not ascend. On a device -2, or -1 */
    int64_t *all;      /* one of these, of all ranks */
    void *state;
    int64_t *counters; /* and one number behind them: how many ranks have failed */
    int64_t *ties;     /* positions of the rank's ties, list_max of each row */
    int64_t *tie_lengths, *tie_k, *last_tie;
    void *tie_state;
    int64_t *tie_counters;
    void *accumulator;   /* plan->accumulator_bytes */
    void *pieces[2];     /* that are read or copied: piece_max elements of each row */
    void *piece_lengths; /* of the rows of a piece: extents */
    void *core;          /* plan->core_bytes */
};

/* Fills *out with addresses from `base` on; returns the bytes, SIZE_MAX if these are beyond all memory. A
 * null base measures. */
size_t topk_dist_lay_out(const struct topk_dist_plan *plan, void *base, struct buffers *out);

#endif
