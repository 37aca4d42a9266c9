/* SPDX-License-Identifier: Apache-2.0
 * What the kernels of bracket are given, and who launches them. */
#ifndef TOPK_SRC_CUDA_BRACKET_KERNELS_H
#define TOPK_SRC_CUDA_BRACKET_KERNELS_H

#include "../grid.h"
#include "../predicate/args.h"
#include "../rows.h"
#include "../select/args.h"
#include "sizes.h"

/* How much shared memory a block has, and how it divides that (shapes.cuh). */
enum bracket_size { BRACKET_LARGE, BRACKET_HALF, BRACKET_QUARTER, BRACKET_SIZES };

/* Bins of one turn. The words are atomic. */
struct bracket_bins {
    uint32_t bins[SELECT_BINS_MAX];
    uint32_t is_short;     /* 1: a block's list had no room for all */
    uint64_t beyond_least; /* complement of the least key of a bin that is cut */
    uint64_t greatest;     /* key of it */
};

/* What the blocks of a row share, in global memory. All words are atomic. The launch clears it: makes all of
 * them 0. */
struct bracket_state {
    struct bracket_bins turns[BRACKET_TURNS];
    uint32_t arrivals; /* of blocks that meet */
    uint32_t listed;   /* candidates that have a slot in the row's list, and those that are there */
    uint32_t complete;
    uint32_t results; /* that have a slot */
};

/* The lists of all blocks, if these have more slots than a page. */
struct stored_lists {
    void *elements;
    uint32_t *positions;
};

struct bracket_args {
    uint32_t blocks_of_row; /* 1: each block has rows of its own, and there are no states */
    uint32_t reciprocal;    /* 2^32 / blocks_of_row, rounded up, if that is not 1 */
    bool by_length;         /* blocks_of_row is not 1, but blocks go to rows by their lengths */
    uint32_t sample_groups; /* of a thread */
    bool is_pair;           /* the k-th element is looked for between a pair of thresholds */
    bool draws_more;        /* a larger sample tells a closer pair, where blocks share a row */
    uint32_t rank;          /* of the sample that is the threshold, if rows are even; or 0 */
    bool has_successor;     /* the next launch is the same call's: it may start early */
    uint32_t room;          /* slots of each block's list: a page, or more */
    uint64_t seed;
    struct bracket_state *states; /* of each row */
    struct row_args rows;
    struct predicate_args predicate;
    struct decode_args decode;
    struct kth_outputs kth;
    struct target target; /* its entries: `sent` for each row */
    struct stored_lists stored;
};

#ifdef __cplusplus
extern "C" {
#endif

/* The kernel of one element width and one shape, and what the host knows of the shape. */
struct bracket_kernel {
    enum bracket_size size;
    uint32_t chunk;  /* groups of a chunk */
    uint32_t page;   /* candidates that a block keeps in shared memory at a time */
    uint32_t sent;   /* candidates that one block puts in order */
    uint32_t staged; /* groups of a thread's sample, at most, that tells a pair of thresholds */
    int (*select)(const struct launch_grid *grid, const struct bracket_args *args);
};

/* The kernels of one element width. */
struct bracket_kernels {
    /* Loads the kernel of the largest shape that the device has room and kernels for. *found: that kernel, or
     * NULL if there is none. */
    int (*prepare)(uint32_t shared_bytes_max, const struct bracket_kernel **found);
};

extern const struct bracket_kernels topk_cuda_bracket_kernels_8, topk_cuda_bracket_kernels_16,
    topk_cuda_bracket_kernels_32, topk_cuda_bracket_kernels_64;

#ifdef __cplusplus
}
#endif
#endif
