/* SPDX-License-Identifier: Apache-2.0
 * What the kernels of merge are given, and who launches them. */
#ifndef TOPK_SRC_CUDA_MERGE_KERNELS_H
#define TOPK_SRC_CUDA_MERGE_KERNELS_H

#include "../grid.h"
#include "../rows.h"
#include "sizes.h"
#include "topk_peer.h"

/* A candidate has the digits of its key, the most significant first, and behind them the digits of its
 * inverse: a number that grows as its index falls. A step counts the next digit of all candidates that begin
 * with the digits of (key, inverse). The last step lists what is at or above (key, inverse). */
struct merge_step {
    uint32_t digit;      /* the next one, from 0 on; MERGE_STEPS: the last step */
    uint32_t is_invalid; /* in the last step: the row has an index that is not allowed */
    uint64_t key, inverse;
    uint64_t need;    /* results among the candidates of this step */
    uint64_t results; /* of the row; known once the first digit has been counted */
};

/* A row that blocks select from together. */
struct merge_state {
    /* From here on zero when a call begins. */
    uint64_t taken[MERGE_STEPS + 1]; /* tiles of each step that blocks have taken */
    uint64_t done[MERGE_STEPS + 1];  /* and done */
    uint64_t listed;                 /* results that have slots */
    uint64_t bins[1 << MERGE_DIGIT_BITS];
    uint32_t step; /* the latest one that blocks may begin */
    uint32_t is_invalid;
    /* Written before `step` says that they are there. */
    struct merge_step steps[MERGE_STEPS + 1];
};

/* Results on their way, each in the slot of an output, k_max to a row: runs of sorted ones. */
struct merge_runs {
    void *values;  /* elements */
    void *indices; /* as the input's */
    int64_t *at;   /* elements of the input */
};

/* A launch finds the constant cache cold: what every kernel reads first lies side by side. */
struct merge_args {
    struct row_args rows; /* length_max: of a list. payload: the candidates' indices */
    int64_t lists, list_stride;
    uint64_t candidates; /* of a row: lists x length_max */
    const void *payload;
    void *out_payload;
    uint32_t payload_bytes;
    bool by_position;   /* else best first, where there is an order */
    bool has_successor; /* a launch of the same call follows */
    bool is_alone;      /* one block selects from a row */
    bool is_last;       /* what is sorted are results; else runs, in `to` */
    /* Of a selection. */
    struct merge_state *states; /* a row each */
    int64_t *listed;            /* elements of the input, in any order, k_max to a row; NULL: results */
    int64_t *counts;            /* of a row's results */
    /* Of sorting. */
    struct merge_runs from, to; /* from.values is NULL: the input's lists */
    int64_t run;                /* slots of a run of `from` */
    uint32_t parts;             /* blocks that share the lists of a row, or some runs of it */
    uint32_t checks;            /* blocks that have looked at a row's indices; 0: the merging blocks do */
    uint32_t held;              /* candidates of a list that a block holds */
    uint32_t held_words;        /* of all lists */
    bool may_share;             /* lists may have more */
    uint32_t *invalid;          /* a word for each of these, in turn: whether it found the row invalid */
};

/* Lists that lie on as many ranks: exchange.cuh. */
struct exchange_args {
    struct merge_args merge; /* of the rows that this rank gets; rows.values and rows.payload mean nothing */
    const void *values, *indices; /* this rank's list of each row, one behind the other */
    int64_t rows, first_row;      /* of all ranks; the first that this rank gets */
    int64_t block_rows;           /* that a rank gets, at most */
    uint32_t rank, ranks;
    int32_t root;   /* or TOPK_PEER_ALL, TOPK_PEER_OWNER */
    uint64_t slots; /* for each rank's candidates, in a half */
    const uint32_t *abort;
    uint64_t timeout_ns; /* 0: none */
    uint64_t *lists[MERGE_LISTS], *flags[MERGE_LISTS];
};

#ifdef __cplusplus
extern "C" {
#endif

/* Of one element width. */
struct merge_kernels {
    /* *cluster: blocks of a cluster that merges lists, at most; 1: none. */
    int (*prepare)(uint32_t shared_bytes_max, uint32_t *cluster);
    /* Shared memory that a block takes to sort `entries` entries. */
    uint32_t (*sort_bytes)(uint32_t entries, uint32_t threads);
    /* Sorts, in a block of grid->threads: the candidates of each row, and writes its results; or if there is
     * a list of results, each of its runs. `entries`: in a block, at most. */
    int (*sort)(const struct launch_grid *grid, const struct merge_args *args, uint32_t entries);
    /* Merges short lists, in a block for each row: short_bytes(candidates of a row). */
    uint32_t (*short_bytes)(uint32_t candidates);
    int (*merge_short)(const struct launch_grid *grid, const struct merge_args *args);
    /* Merges the lists of each row, or runs: lists_bytes(grid->threads). `cluster` blocks that share a row
     * are a cluster; 1: none are. */
    uint32_t (*lists_bytes)(uint32_t threads);
    int (*lists)(const struct launch_grid *grid, const struct merge_args *args, uint32_t cluster);
    /* Merges the lists of each row, where blocks hold what may be a result: held_bytes(held_words,
     * may_share).
     */
    uint32_t (*held_bytes)(uint32_t words, bool may_share);
    int (*hold)(const struct launch_grid *grid, const struct merge_args *args);
    /* Finds out which rows are invalid, for blocks that share rows and are no cluster. */
    int (*check)(const struct launch_grid *grid, const struct merge_args *args);
    /* Selects from each row, in any order. */
    int (*select)(const struct launch_grid *grid, const struct merge_args *args);
    /* Exchanges short lists and merges them, as merge_short(). NULL: of elements of 64 bits. */
    int (*exchange)(const struct launch_grid *grid, const struct exchange_args *args);
};

extern const struct merge_kernels topk_cuda_merge_kernels_8, topk_cuda_merge_kernels_16,
    topk_cuda_merge_kernels_32, topk_cuda_merge_kernels_64;

#ifdef __cplusplus
}
#endif
#endif
