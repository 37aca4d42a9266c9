/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of accumulators. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_SIZES_H
#define TOPK_SRC_CUDA_ACCUMULATE_SIZES_H

#include "../select/sizes.h"

enum {
    /* Threads of a block that reads a chunk: for rows that blocks share, and for shorter ones. */
    ACCUMULATE_THREADS = SIZE(512, 64),
    ACCUMULATE_THREADS_FEW = SIZE(128, 32),
    ACCUMULATE_THREADS_PER_SM = SIZE(512, 128),
    ACCUMULATE_BLOCKS_OF_SM = ACCUMULATE_THREADS_PER_SM / ACCUMULATE_THREADS,
    /* Tiles that are on their way to each warp of such a block; and tiles of a block, at least, before a row
     * has another one. */
    ACCUMULATE_SLOTS = SIZE(4, 1),
    ACCUMULATE_TILES_OF_BLOCK = SIZE(1, 2),
    /* Of the kernels that work on lists. */
    ACCUMULATE_LIST_THREADS = SIZE(512, 64),
    /* Candidates that such a kernel's thread has on their way. */
    ACCUMULATE_ITEMS = 8,
    /* Hits of a row that a block holds back until it has read its share, at most a warp's lanes; and the most
     * blocks of a launch that do so. */
    ACCUMULATE_HELD = SIZE(16, 3),
    ACCUMULATE_HOLDERS = SIZE(256, 8),
    /* Room of a row, in candidates for each of k_max. It keeps k_max, so the rest may come at once.
     */
    ACCUMULATE_ROOM = 4,
    /* Digits by which the k-th candidate is found. */
    ACCUMULATE_DIGIT_BITS = SIZE(8, 5),
    /* Up to this number of rows, the blocks of a row find the best of a chunk themselves where they have to;
     * with more rows a selection follows. */
    ACCUMULATE_WAYS_OUT = SIZE(64, 2),
    /* From this number of results on, launches of their own settle such rows; and the most blocks of such a
     * launch that share a row. */
    ACCUMULATE_APART = SIZE(1 << 15, 24),
    ACCUMULATE_KEEPERS = SIZE(256, 3),
    /* Slots of the list of a chunk's best for each result; it has one more for each ACCUMULATE_HELD_OF_LISTED
     * slots of the reserve. */
    ACCUMULATE_LISTED = 2,
    ACCUMULATE_HELD_OF_LISTED = SIZE(4, 1),
    /* The sample takes one group in this number, a power of two; the fewest groups of a sample, where shorter
     * chunks have none; and how many standard deviations its code lies behind the k-th. */
    ACCUMULATE_SAMPLED = SIZE(64, 2),
    ACCUMULATE_SAMPLE = SIZE(1024, 4),
    ACCUMULATE_DEVIATIONS = SIZE(3, 0),
    /* Tiles that a block takes at once. */
    ACCUMULATE_RUN = SIZE(4, 2),
    /* Steps of that, at most: one for each digit of a code in the sample, of a code and of a position, and
     * three more. */
    ACCUMULATE_STEPS = 3 * ((64 + SELECT_DIGIT_BITS_MAX - 1) / SELECT_DIGIT_BITS_MAX) + 3,
    /* Rows of a grid, at most. Blocks go on to the rows behind these. */
    ACCUMULATE_GRID_ROWS = SIZE(4096, 2),
};

#endif
