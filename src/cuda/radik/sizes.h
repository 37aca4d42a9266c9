/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of radik. */
#ifndef TOPK_SRC_CUDA_RADIK_SIZES_H
#define TOPK_SRC_CUDA_RADIK_SIZES_H

#include <stdint.h>

#include "../size.h"

enum {
    RADIK_DIGIT_BITS = SIZE(12, 6), /* of a digit, if tuning does not say otherwise */
    RADIK_DIGIT_BITS_MAX = SIZE(12, 6),
    RADIK_BINS_MAX = 1 << RADIK_DIGIT_BITS_MAX,
    /* Of the kernels that read rows, and of the one that draws samples. */
    RADIK_THREADS = SIZE(512, 64),
    RADIK_BLOCKS_PER_SM = SIZE(2, 1),
    RADIK_FIRST_BLOCKS_PER_SM = SIZE(2, 1),
    /* Groups of 16 bytes that a thread draws; and how many times as many a row must have. */
    RADIK_SAMPLE_GROUPS = SIZE(2, 1),
    RADIK_SAMPLED_MIN = SIZE(4, 1),
    /* A range is drawn to either side of where the k-th is expected: this number of sixteenths of a standard
     * deviation, and this number of samples. */
    RADIK_DEVIATIONS_OF_16 = SIZE(54, 4),
    RADIK_SAMPLES_BESIDES = SIZE(4, 1),
    /* A search in a sample ends where a bin holds no more of it, or in a bin within a bin. */
    RADIK_SAMPLE_CROWD = 8,
    RADIK_SAMPLE_ROUNDS = 2,
    /* Candidates that the last block to find them finishes alone. */
    RADIK_FINISH_CANDIDATES = SIZE(2048, 24),
    /* Results of a row are many if more than one element in this number is one. */
    RADIK_MANY_RESULTS = SIZE(64, 4),
    /* Of a step of the write buffer: elements of a thread. */
    RADIK_STEP = 8,
    RADIK_DIGIT_BITS_MIN = SIZE(8, 2), /* where the workspace is small */
    /* Rows are short up to twice the mean length, but for these bounds. If lengths differ and each
     * multiprocessor has more rows than this, short ones are left to other methods. */
    RADIK_SHORT_ROW_MIN = SIZE(1 << 10, 20),
    RADIK_SHORT_ROW = SIZE(1 << 15, 60),
    RADIK_SHORT_ROW_SPARE = SIZE(32, 2), /* bytes */
    RADIK_ROWS_PER_SM = SIZE(4, 1),
    /* Spans have room for all tiles that they could have, if these are no more than this number of times the
     * tiles of all elements. */
    RADIK_SPARE_TILES = SIZE(2, 1),
    /* Of the kernel that finds the rows that are longer, and of those that sort a row's results. */
    RADIK_LIST_THREADS = SIZE(256, 64),
    RADIK_SORT_THREADS = SIZE(512, 64),
    RADIK_RANK_THREADS = SIZE(256, 64),
    RADIK_RANK_ROWS = SIZE(8, 2),
    RADIK_LIST_BLOCKS = SIZE(1024, 3),
    RADIK_GRID_BLOCKS = SIZE(INT32_MAX, 2),
    RADIK_GRID_ROWS = SIZE(65535, 2),
    /* Rows that are launched for one by one, without rescheduling. */
    RADIK_LAUNCHED_ROWS = 1024,
};

/* As in air: positions and keys of 32 bits make one word; a position has 4 bytes; a block counts in 32 bits.
 */
#define RADIK_ONE_WORD_ROW SIZE((INT64_C(1) << 31), INT64_C(4095))
#define RADIK_NARROW_ROW SIZE((INT64_C(1) << 32), INT64_C(4096))
#define RADIK_BLOCK_ELEMENTS SIZE((INT64_C(1) << 31), INT64_C(1) << 14)

#endif
