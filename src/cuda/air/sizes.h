/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of air. */
#ifndef TOPK_SRC_CUDA_AIR_SIZES_H
#define TOPK_SRC_CUDA_AIR_SIZES_H

#include <stdint.h>

#include "../size.h"

enum {
    /* Of a digit, if tuning does not say otherwise. */
    AIR_DIGIT_BITS = SIZE(11, 4),
    /* Of the kernels that share a row among blocks. */
    AIR_THREADS = SIZE(512, 64),
    AIR_BLOCKS_PER_SM = SIZE(2, 1),
    AIR_FIRST_BLOCKS_PER_SM = SIZE(3, 1),
    /* Of the kernel that gives a row to one block: threads, and candidates in shared memory; then what the
     * last block of a shared row may finish alone: bytes, and candidates. */
    AIR_ROW_THREADS_MIN = SIZE(128, 64),
    AIR_ROW_THREADS_MAX = SIZE(512, 64),
    AIR_ROW_CANDIDATES = SIZE(1 << 16, 48),
    AIR_FINISH_BYTES = SIZE(16 << 10, 24 * 8),
    AIR_FINISH_CANDIDATES = SIZE(2048, 24),
    /* Of the kernel that sorts a row's results in one block. */
    AIR_SORT_THREADS = SIZE(512, 64),
    /* Of the kernel that shares the sort of a row's results among blocks; it is used for rows of few results
     * and for few rows: rows x k^2 is at most this times SELECT_SORT_MAX^2. */
    AIR_RANK_THREADS = SIZE(256, 64),
    AIR_RANK_ROWS = SIZE(8, 2),
    /* Rows up to this length have digits of fewer bits: their histograms would be emptier than that. */
    AIR_SHORT_ROW_MAX = SIZE(4096, 100),
    AIR_SHORT_DIGIT_BITS = SIZE(8, 3),
    /* Blocks with a row each are made for rows of this length at least. */
    AIR_USUAL_LENGTH_MIN = SIZE(1024, 20),
    /* Rows up to the first length are given to one block each; up to the second, if there are enough of them
     * to keep AIR_ROWS_PER_16_SMS of 16 multiprocessors busy. */
    AIR_ROW_MAX = SIZE(1 << 15, 1000),
    AIR_LONG_ROW_MAX = SIZE(1 << 20, 2000),
    AIR_ROWS_PER_16_SMS = SIZE(11, 12),
    /* Candidates are buffered when fewer than n / alpha remain. */
    AIR_ALPHA = SIZE(128, 8),
    /* Ties are rare if fewer than one element in AIR_RARE_TIES ties. A row is long for the last filter if
     * each block has more tiles of it. */
    AIR_RARE_TIES = SIZE(64, 4),
    AIR_LONG_FILTER = SIZE(4, 1),
    /* Of a grid, at most: blocks that have rows of their own, and rows that blocks share. Blocks go on to the
     * rows behind these. */
    AIR_GRID_BLOCKS = SIZE(INT32_MAX, 2),
    AIR_GRID_ROWS = SIZE(65535, 2),
};

/* Up to the first length, a position and a key of 32 bits make one word; up to the second, a position has 4
 * bytes. A row has a block for every AIR_BLOCK_ELEMENTS, since a block counts in 32 bits. */
#define AIR_ONE_WORD_ROW SIZE((INT64_C(1) << 31), INT64_C(4095))
#define AIR_NARROW_ROW SIZE((INT64_C(1) << 32), INT64_C(4096))
#define AIR_BLOCK_ELEMENTS SIZE((INT64_C(1) << 31), INT64_C(2048))

#endif
