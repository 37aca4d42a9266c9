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
    /* Rows whose blocks each hold all candidates before the cut, at most; candidates that a block holds, and
     * how many of them it ranks at a time. A block holds twice as many of a list as even lists have results,
     * and a number more. */
    MERGE_HELD_ROWS = SIZE(4, 2),
    MERGE_HELD = SIZE(16384, 120),
    MERGE_RANKED = SIZE(2048, 64),
    MERGE_HELD_BEYOND = SIZE(128, 8),
    /* Candidates of a row for each block that shares such a row, or looks at its indices first, at least. */
    MERGE_CANDIDATES = SIZE(1024, 100),
    /* Results that a block has a share of: at most; as planned, at most; and at least, before another block
     * shares the row. */
    MERGE_SHARE = MERGE_ITEMS * MERGE_THREADS,
    MERGE_CHUNK = MERGE_SHARE / 2,
    MERGE_PART = SIZE(256, 20),
    /* Blocks that share a row and are a cluster, at most; and lists that a cluster merges sooner than blocks
     * that hold them, for it needs one launch. */
    MERGE_CLUSTER = SIZE(8, 4),
    MERGE_CLUSTER_LISTS = SIZE(4, 2),
    /* Samples of all lists, for an end of a block's share; more than six times the lists, else levels need
     * not narrow it. */
    MERGE_SAMPLES = SIZE(1024, 256),
    /* A warp loads MERGE_WINDOW times 32 entries of a list around where an end is guessed, and leaves some
     * out between them if the square root of what a guess is away is more than MERGE_DEVIATION. */
    MERGE_WINDOW = SIZE(4, 1),
    MERGE_DEVIATION = SIZE(16, 4),
    /* Guesses of an end, at most; and levels. If lists are in order, each level leaves two thirds of the
     * entries or fewer. */
    MERGE_GUESSES = 3,
    MERGE_LEVELS = 110,
    /* Indices that a thread loads together where it only looks at them; and candidates of a row for each
     * block of a cluster that looks, at least. */
    MERGE_LOOKS = SIZE(16, 2),
    MERGE_LOOKED = SIZE(4096, 100),
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
    /* Blocks of a grid, at most: they go on to the work of those behind. Also blocks that look at the indices
     * of all rows together; of more rows, each has one. */
    MERGE_GRID_BLOCKS = SIZE(1 << 20, 7),
    MERGE_LOOK_BLOCKS = SIZE(1024, 7),
};

#endif
