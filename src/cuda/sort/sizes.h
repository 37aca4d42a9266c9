/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of sort. */
#ifndef TOPK_SRC_CUDA_SORT_SIZES_H
#define TOPK_SRC_CUDA_SORT_SIZES_H

#include <stdint.h>

#include "../size.h"

enum {
    /* Of one pass; a divisor of 8, and no more digits than a block has threads. */
    SORT_DIGIT_BITS = SIZE(8, 4),
    /* Of a pass, and the elements of a tile that each thread has: 6528 in a tile, or 4608 of 64 bits. A
     * sorted tile takes 62 KiB of shared memory: a T4 has 64. */
    SORT_PASS_THREADS = SIZE(384, 64),
    SORT_ITEMS = SIZE(17, 2),
    SORT_ITEMS_64 = SIZE(12, 2),
    SORT_PASS_BLOCKS_PER_SM = SIZE(2, 1),
    /* Of the other kernels that share rows among blocks. */
    SORT_THREADS = SIZE(512, 64),
    SORT_BLOCKS_PER_SM = SIZE(2, 1),
    /* Counters in shared memory of the kernel that counts digits: as many copies as fit in. */
    SORT_COUNT_WORDS = SIZE(8192, 512),
    /* Of the kernel that samples rows, each by one block. */
    SORT_SAMPLE_THREADS = SIZE(1024, 64),
    SORT_SAMPLES_OF_THREAD = SIZE(16, 2),
    SORT_SAMPLES = SORT_SAMPLE_THREADS * SORT_SAMPLES_OF_THREAD,
    /* By how many tenths of the sample's standard deviation its threshold lies below the k-th element: fewer
     * than k elements reach it, or more than there is room for, about once in 10^7 rows. */
    SORT_DEVIATION_TENTHS = SIZE(52, 5),
    /* Samples' worth of elements that lists have room for besides, for rounding and small numbers. */
    SORT_SPARE_SAMPLES = SIZE(14, 5),
    /* Of the kernel that filters; all but one warp have elements of a tile. */
    SORT_FILTER_THREADS = SIZE(512, 96),
    SORT_FILTER_BLOCKS_PER_SM = SIZE(2, 1),
    /* Of the kernel that gives a row to one block, which has as many threads as the longest row needs, and up
     * to these: rows of 8192 elements, or 4096 of 64 bits. */
    SORT_ROW_THREADS = SIZE(1024, 64),
    SORT_ROW_THREADS_64 = SIZE(512, 32),
    SORT_ROW_ITEMS = SIZE(8, 2),
    /* As many of its blocks as make up this many threads, if there are rows for them. */
    SORT_ROW_THREADS_PER_SM = SIZE(4096, 128),
    /* Longer rows are sorted in groups of about this many elements, or row by row: enough to keep the device
     * busy, and what the workspace has to hold twice. */
    SORT_GROUP_ELEMENTS = SIZE(1 << 24, 1500),
    /* Rows of a grid that blocks share, at most; blocks go on to the rows behind these. */
    SORT_GRID_ROWS = SIZE(65535, 2),
    SORT_BINS = 1 << SORT_DIGIT_BITS,
};

/* Up to this length positions in whole rows have 4 bytes. */
#define SORT_NARROW_ROW SIZE((INT64_C(1) << 32), INT64_C(700))
/* Up to this length of lists look-back has words of 32 bits. */
#define SORT_NARROW_STATES SIZE((INT64_C(1) << 30) - 1, INT64_C(500))

/* Elements of a thread in a tile of the kernel that filters. */
#define SORT_FILTER_ITEMS(element_bytes) ((element_bytes) == 1 ? 32 : 64 / (element_bytes))

/* Up to this length rows are filtered: where a threshold misled, one block counts elements in 32 bits. */
#define SORT_FILTERED_ROW SIZE((INT64_C(1) << 31) - 1, INT64_C(1800))

#endif
