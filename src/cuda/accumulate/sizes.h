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
    /* Candidates that a row has room for, for each of k_max: so many may come at once while it keeps k_max.
     */
    ACCUMULATE_ROOM = 4,
    /* Digits by which the k-th candidate is found. */
    ACCUMULATE_DIGIT_BITS = SIZE(8, 5),
    /* Up to so many rows, the blocks of a row find the best of a chunk themselves where they have to; of more
     * rows a selection follows. */
    ACCUMULATE_WAYS_OUT = SIZE(64, 2),
    /* Slots for the best of a chunk that its blocks find, for each result. */
    ACCUMULATE_LISTED = 2,
    /* Steps of that, at most: one for each digit of a code and of a position, and two more. */
    ACCUMULATE_STEPS = 2 * ((64 + SELECT_DIGIT_BITS_MAX - 1) / SELECT_DIGIT_BITS_MAX) + 2,
    /* Rows of a grid, at most. Blocks go on to the rows behind these. */
    ACCUMULATE_GRID_ROWS = SIZE(4096, 2),
};

#endif
