/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of rtopk. TOPK_SHRINK makes them small, so that tests reach every boundary with short rows.
 */
#ifndef TOPK_SRC_CUDA_RTOPK_SIZES_H
#define TOPK_SRC_CUDA_RTOPK_SIZES_H

#include <stdint.h>

enum {
#ifdef TOPK_SHRINK
    RTOPK_THREADS = 64,
    RTOPK_ITEMS_0 = 2,
    RTOPK_ITEMS_1 = 4,
    RTOPK_ITEMS_2 = 8,
    RTOPK_ITEMS_3 = 16,
    RTOPK_ROW_MAX = 1024,
    RTOPK_UNEVEN_THREADS = 64,
    RTOPK_GRID_BLOCKS = 2,
    RTOPK_BLOCK_ITEMS = 16,
    RTOPK_PART_ITEMS_0 = 16,
    RTOPK_PART_WARPS = 0,
    RTOPK_PART_RESULTS = 4,
    RTOPK_PART_MOST = 32,
    RTOPK_PART_STEPS = 1000,
    RTOPK_NETWORK_DEVIATIONS = 0,
    RTOPK_ORDER_FEW = 4,
    RTOPK_POSITION_BITS = 24,
#define RTOPK_NETWORK_LIST(F)                                                                                \
    F(2, 1) F(4, 2) F(8, 2) F(2, 2) F(4, 4) F(8, 4) F(8, 8) F(16, 4) F(32, 4) F(8, 0) F(16, 0) F(32, 0)
    RTOPK_NETWORKS = 12,
    RTOPK_NETWORK_ITEMS = 32,
    RTOPK_STAGED_ITEMS = 8,
#define RTOPK_TINY_LIST(F) F(2, 0) F(4, 0) F(12, 0) F(16, 1)
#define RTOPK_CANDIDATE_LIST(F) F(8, 2) F(16, 4)
    RTOPK_CANDIDATES = 2,
    RTOPK_TINY_WARPS = 0,
#else
    /* Of a block; each warp has rows of its own. */
    RTOPK_THREADS = 128,
    /* Elements of a row that each lane keeps in registers: a kernel for each, and a problem is served by the
     * first whose 32 lanes hold its longest row. */
    RTOPK_ITEMS_0 = 4,
    RTOPK_ITEMS_1 = 8,
    RTOPK_ITEMS_2 = 16,
    RTOPK_ITEMS_3 = 32,
    /* Rows of different lengths, and longer ones, stay in shared memory: up to this length. */
    RTOPK_ROW_MAX = 2048,
    RTOPK_UNEVEN_THREADS = 64,
    /* Of a grid, at most. Blocks go on to the rows behind these. */
    RTOPK_GRID_BLOCKS = INT32_MAX,
    /* An approximation serves longer rows, too: a block holds each, with these numbers of items and warps. */
    RTOPK_BLOCK_ITEMS = 32,
    /* Elements that a lane keeps where an approximation shares a warp among several rows; or PART_ITEMS_1. */
    RTOPK_PART_ITEMS_0 = 32,
    /* Fewer lanes have a row if that leaves each multiprocessor this number of warps. */
    RTOPK_PART_WARPS = 8,
    /* And if a lane has no more results than these on average. More, in any order, are listed with numbers.
     */
    RTOPK_PART_RESULTS = 8,
    /* Where more than these, on average, go best first, no rows share a warp. */
    RTOPK_PART_MOST = 16,
    /* Nor do they for more steps. */
    RTOPK_PART_STEPS = 8,
/* A kernel for each pair: the leads that a lane has of a row, and how many it keeps once they are sorted; 0
   if it sorts none and counts. */
#define RTOPK_NETWORK_LIST(F) F(16, 8) F(32, 8) F(64, 8) F(16, 16) F(32, 16) F(64, 16) F(32, 0) F(64, 0)
    RTOPK_NETWORKS = 8,
    RTOPK_NETWORK_ITEMS = 64, /* of a lane, at most */
    /* Elements of 64 bits stay in shared memory while leads are counted, if a lane has no more than these. */
    RTOPK_STAGED_ITEMS = 32,
/* A kernel for each of these lengths: a thread has a whole row that is no longer to itself. The second
   number: 1 if it finds the best element alone. */
#define RTOPK_TINY_LIST(F) F(4, 0) F(8, 0) F(12, 0) F(32, 1)
/* A kernel for each pair: the leads that a lane has of a row, and how many heads and candidates. */
#define RTOPK_CANDIDATE_LIST(F) F(64, 4) F(64, 8) F(48, 4) F(48, 8)
    RTOPK_CANDIDATES = 4,
    /* A lane has several tiny rows if a multiprocessor still has this number of warps. */
    RTOPK_TINY_WARPS = 256,
    /* Lanes keep as many leads as they have results on average, and these tenths of a standard deviation
       more. */
    RTOPK_NETWORK_DEVIATIONS = 32,
    /* Positions take this number of bits, or more, of the words that put results in order. */
    RTOPK_POSITION_BITS = 1,
    /* Results that a lane puts in order at once; more lanes help instead. */
    RTOPK_ORDER_FEW = 8,
#endif
/* Results that a lane can put in order at once: 2, 4 and so on up to RTOPK_ORDER_FEW. Where lanes keep no
 * lists, also RTOPK_ORDER_MOST: such kernels serve many results. */
#define RTOPK_ORDER_MOST(items, kept) ((kept) != 0 ? (int)RTOPK_ORDER_FEW : (items) < 64 ? 16 : 32)
#define RTOPK_ORDER_NEXT(words, most) ((words) < RTOPK_ORDER_FEW ? 2 * (words) : (most))
    RTOPK_PART_ITEMS_1 = 64,
    RTOPK_APPROXIMATE_PARTS = 2,
    RTOPK_TINIES = 4,
    RTOPK_MANY_HEADS = 32,        /* of a row */
    RTOPK_TINY_ELEMENTS = 28,     /* of all rows of a lane, at most, if it has several */
    RTOPK_TINY_SHIFT = 3,         /* the greatest row_shift */
    RTOPK_NETWORK_RESULTS = 1024, /* of all rows of a warp, at most */
    /* Warps that keep a multiprocessor busy. */
    RTOPK_BUSY_WARPS = 8,
    RTOPK_RECIPROCAL_BITS = 20,
    RTOPK_BLOCK_WARPS_0 = 2,
    RTOPK_BLOCK_WARPS_1 = 3,
    RTOPK_BLOCK_WARPS_2 = 4,
    RTOPK_BLOCK_WARPS_3 = 6,
    RTOPK_BLOCK_WARPS_4 = 8,
    RTOPK_BLOCK_ITEMS_4 = 32,
    RTOPK_APPROXIMATE_MAX = 32 * RTOPK_BLOCK_WARPS_4 * RTOPK_BLOCK_ITEMS_4,
    /* Lanes of ITEMS_1, ITEMS_2 or ITEMS_3, and the kinds of blocks. */
    RTOPK_APPROXIMATE_CLASSES = 8,
    /* A select_where: lanes of ITEMS_1, ITEMS_2 or ITEMS_3. */
    RTOPK_WHERE_CLASSES = 3,
    /* The most rows that a team of an approximation takes, and the blocks that a multiprocessor then has. */
    RTOPK_ROWS_OF_TEAM = 8,
    RTOPK_BLOCKS_OF_SM = 64,
    RTOPK_CLASSES = 4,
    RTOPK_UNEVEN_BLOCKS = 12, /* of a multiprocessor, at least */
    RTOPK_UNIFORM_ROW_MAX = 32 * RTOPK_NETWORK_ITEMS,
    /* Of a select_where. */
    RTOPK_WHERE_ROW_MAX = 32 * RTOPK_ITEMS_3,
    /* Results of each warp's row that shared memory has room for. */
    RTOPK_RESULTS_MAX = 32 * RTOPK_ITEMS_3,
    /* Candidates that the lanes sort in registers, two each. */
    RTOPK_FEW = 64,
    /* Candidates among which a search goes on. */
    RTOPK_LISTED = 128,
    /* Steps of a search that may choose their pivot by the counts; all further ones halve the range. */
    RTOPK_GUESSES = 8,
    /* Leads that a lane sorts for a first guess; how far the two are apart that enclose it, and the greatest
       index of the upper one. */
    RTOPK_SAMPLES = 8,
    RTOPK_SAMPLE_SPAN = 3,
    RTOPK_UPPER_SAMPLE = RTOPK_SAMPLES - RTOPK_SAMPLE_SPAN - 2,
};

#endif
