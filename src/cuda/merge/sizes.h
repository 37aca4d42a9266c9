/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of merge. TOPK_SHRINK makes them small, so that tests reach every boundary with few rows. */
#ifndef TOPK_SRC_CUDA_MERGE_SIZES_H
#define TOPK_SRC_CUDA_MERGE_SIZES_H

#include <stdint.h>

#include "../size.h"

enum {
    /* Threads of a block, and of a block that sorts, at most. */
    MERGE_THREADS = SIZE(512, 64),
    MERGE_SORT_THREADS = SIZE(1024, 64),
    /* Candidates of a thread, which are loaded together. */
    MERGE_ITEMS = SIZE(4, 2),
    MERGE_HELD_ITEMS = SIZE(8, 2),
    /* Lists that are merged at once, at most: a lane of a warp has each. */
    MERGE_LISTS = 32,
    /* Sorted entries that wait in shared memory for their ranks. */
    MERGE_QUEUE = SIZE(1024, 48),
    /* Candidates of lists, and of runs, that a block holds in shared memory, at most; and as many of them as
     * it ranks at a time. */
    MERGE_HELD = SIZE(16384, 120),
    MERGE_RANKED = SIZE(2048, 64),
    /* A block holds twice as many of a list as even lists have results, and this number more. */
    MERGE_HELD_BEYOND = SIZE(128, 8),
    /* Candidates of a row that one block sorts; and the number that is always sorted, where more are only if
     * there are rows for all multiprocessors. At most 8 for each thread (select/entries.cuh). */
    MERGE_FEW = SIZE(4096, 60),
    MERGE_FEW_SORTED = SIZE(2048, 20), /* if they are sorted lists already */
    /* Short sorted lists: threads of a block, at most, and candidates of each; and how many steps of searches
     * a thread takes, at most. More take longer than to sort or to share the lists. */
    MERGE_SHORT_THREADS = SIZE(1024, 32),
    MERGE_SHORT_ITEMS = SIZE(4, 2),
    MERGE_SHORT_STEPS = SIZE(224, 12),
    MERGE_SHORT_FEW = SIZE(4, 3),     /* lists: threads rank their own candidates */
    MERGE_SHORT_ROWS = SIZE(256, 40), /* of more, sorting keeps all multiprocessors busier */
    MERGE_FEW_OF_MANY_ROWS = SIZE(8192, 150),
    /* Results in a run, which one block sorts, and runs that are merged at once. */
    MERGE_RUN = SIZE(1024, 20),
    MERGE_RUNS = SIZE(16, 3),
    MERGE_RUN_THREADS = SIZE(512, 64),
    /* Bits of a digit, and the steps of a selection that these make: of keys and of indices of 64 bits, and
     * a last one. */
    MERGE_DIGIT_BITS = SIZE(11, 4),
    MERGE_STEPS = 2 * ((64 + MERGE_DIGIT_BITS - 1) / MERGE_DIGIT_BITS) + 1,
    /* The most tiles of a row that a block keeps from step to step. */
    MERGE_KEPT = SIZE(1024, 6),
    /* Rows that several blocks select from together. Of more rows, each has one block. */
    MERGE_SHARED_ROWS = SIZE(256, 3),
    /* Blocks of a grid, at most: they go on to the work of those behind. Also blocks that rank the candidates
     * of all rows together; of more rows, each has one. */
    MERGE_GRID_BLOCKS = SIZE(1 << 20, 7),
    MERGE_RANK_BLOCKS = SIZE(1024, 7),
    /* Candidates of a row for each block that shares it, at least. */
    MERGE_PART = SIZE(1024, 100),
};

#endif
