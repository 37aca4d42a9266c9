/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of sort. TOPK_SHRINK makes them tiny, so that tests reach every boundary with small inputs
 * and few emulated threads. */
#ifndef TOPK_SRC_CUDA_SORT_SIZES_H
#define TOPK_SRC_CUDA_SORT_SIZES_H

#include <stdint.h>

enum {
#ifdef TOPK_SHRINK
    SORT_DIGIT_BITS = 4,
    SORT_THREADS = 64,
    SORT_ITEMS = 2,
    SORT_ITEMS_64 = 2,
    SORT_BLOCKS_PER_SM = 1,
    SORT_COUNT_WORDS = 512,
    SORT_ROW_THREADS = 64,
    SORT_ROW_THREADS_64 = 32,
    SORT_ROW_ITEMS = 2,
    SORT_ROW_THREADS_PER_SM = 128,
    SORT_GROUP_ELEMENTS = 1500,
    SORT_GRID_ROWS = 2,
#else
    /* Of one pass; a divisor of 8, and no more digits than a block has threads. */
    SORT_DIGIT_BITS = 8,
    /* Of the kernels that share rows among blocks, and the elements of a tile that each thread has: 8192 in a
     * tile, or 4096 of 64 bits, so that a tile passes through 32 KiB of shared memory. */
    SORT_THREADS = 512,
    SORT_ITEMS = 16,
    SORT_ITEMS_64 = 8,
    SORT_BLOCKS_PER_SM = 2,
    /* Counters in shared memory of the kernel that counts digits: as many copies as fit in. */
    SORT_COUNT_WORDS = 8192,
    /* Of the kernel that gives a row to one block, which has as many threads as the longest row needs, and up
     * to these: rows of 8192 elements, or 4096 of 64 bits. */
    SORT_ROW_THREADS = 1024,
    SORT_ROW_THREADS_64 = 512,
    SORT_ROW_ITEMS = 8,
    /* As many of its blocks as make up this many threads, if there are rows for them. */
    SORT_ROW_THREADS_PER_SM = 4096,
    /* Longer rows are sorted in groups of about this many elements, or row by row: enough to keep the device
     * busy, and what the workspace has to hold twice. */
    SORT_GROUP_ELEMENTS = 1 << 24,
    /* Rows of a grid that blocks share, at most; blocks go on to the rows behind these. */
    SORT_GRID_ROWS = 65535,
#endif
    SORT_BINS = 1 << SORT_DIGIT_BITS,
};

/* Up to this length positions in whole rows have 4 bytes. */
#ifdef TOPK_SHRINK
#define SORT_NARROW_ROW INT64_C(700)
#else
#define SORT_NARROW_ROW (INT64_C(1) << 32)
#endif

#endif
