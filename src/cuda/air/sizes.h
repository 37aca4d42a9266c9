/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of air. TOPK_SHRINK makes them tiny, so that tests reach every boundary with small inputs
 * and few emulated threads. */
#ifndef TOPK_SRC_CUDA_AIR_SIZES_H
#define TOPK_SRC_CUDA_AIR_SIZES_H

#include <stdint.h>

enum {
#ifdef TOPK_SHRINK
    AIR_DIGIT_BITS = 4,
    AIR_THREADS = 64,
    AIR_BLOCKS_PER_SM = 1,
    AIR_FIRST_BLOCKS_PER_SM = 1,
    AIR_ROW_THREADS_MIN = 64,
    AIR_ROW_THREADS_MAX = 64,
    AIR_ROW_CANDIDATES = 48,
    AIR_FINISH_BYTES = 24 * 8,
    AIR_FINISH_CANDIDATES = 24,
    AIR_SORT_THREADS = 64,
    AIR_RANK_THREADS = 64,
    AIR_RANK_ROWS = 2,
    AIR_SHORT_ROW_MAX = 100,
    AIR_USUAL_LENGTH_MIN = 20,
    AIR_SHORT_DIGIT_BITS = 3,
    AIR_ROW_MAX = 1000,
    AIR_LONG_ROW_MAX = 2000,
    AIR_ROWS_PER_16_SMS = 12,
    AIR_ALPHA = 8,
    AIR_RARE_TIES = 4,
    AIR_LONG_FILTER = 1,
    AIR_GRID_BLOCKS = 2,
    AIR_GRID_ROWS = 2,
#else
    /* Of a digit, if tuning does not say otherwise. */
    AIR_DIGIT_BITS = 11,
    /* Of the kernels that share a row among blocks. */
    AIR_THREADS = 512,
    AIR_BLOCKS_PER_SM = 2,
    AIR_FIRST_BLOCKS_PER_SM = 3,
    /* Of the kernel that gives a row to one block, the candidates that it keeps in shared memory at
     * most, and those of a shared row that its last block may finish alone. */
    AIR_ROW_THREADS_MIN = 128,
    AIR_ROW_THREADS_MAX = 512,
    AIR_ROW_CANDIDATES = 1 << 16,
    AIR_FINISH_BYTES = 16 << 10,
    AIR_FINISH_CANDIDATES = 2048,
    /* Of the kernel that sorts a row's results in one block. */
    AIR_SORT_THREADS = 512,
    /* Of the kernel that shares the sort of a row's results among blocks; it is used for rows of few results
     * and for few rows: rows x k^2 is at most this times SELECT_SORT_MAX^2. */
    AIR_RANK_THREADS = 256,
    AIR_RANK_ROWS = 8,
    /* Rows up to this length have digits of fewer bits: their histograms would be emptier than that. */
    AIR_SHORT_ROW_MAX = 4096,
    AIR_SHORT_DIGIT_BITS = 8,
    /* Blocks with a row each are made for rows of this length at least. */
    AIR_USUAL_LENGTH_MIN = 1024,
    /* Rows up to the first length are given to one block each; up to the second, if there are enough of them
     * to keep so many of 16 multiprocessors busy. */
    AIR_ROW_MAX = 1 << 15,
    AIR_LONG_ROW_MAX = 1 << 20,
    AIR_ROWS_PER_16_SMS = 11,
    /* Candidates are buffered when fewer than n / alpha remain. */
    AIR_ALPHA = 128,
    /* Ties are rare if they are fewer than one in so many elements. A row is long for the last filter if each
     * block has more tiles of it. */
    AIR_RARE_TIES = 64,
    AIR_LONG_FILTER = 4,
    /* Of a grid, at most: blocks that have rows of their own, and rows that blocks share. Blocks go on to the
     * rows behind these. */
    AIR_GRID_BLOCKS = INT32_MAX,
    AIR_GRID_ROWS = 65535,
#endif
};

/* Up to the first length, a position and a key of 32 bits make one word; up to the second, a position has 4
 * bytes. A row has a block for every so many elements, since a block counts in 32 bits. */
#ifdef TOPK_SHRINK
#define AIR_ONE_WORD_ROW INT64_C(4095)
#define AIR_NARROW_ROW INT64_C(4096)
#define AIR_BLOCK_ELEMENTS INT64_C(2048)
#else
#define AIR_ONE_WORD_ROW (INT64_C(1) << 31)
#define AIR_NARROW_ROW (INT64_C(1) << 32)
#define AIR_BLOCK_ELEMENTS (INT64_C(1) << 31)
#endif

#endif
