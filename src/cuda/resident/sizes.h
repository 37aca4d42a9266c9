/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of resident. */
#ifndef TOPK_SRC_CUDA_RESIDENT_SIZES_H
#define TOPK_SRC_CUDA_RESIDENT_SIZES_H

#include <stdint.h>

#include "../size.h"

enum {
    /* Elements of a row that each thread keeps in registers, half as many of 64 bits: a kernel for each. */
    RESIDENT_ITEMS_0 = SIZE(8, 2),
    RESIDENT_ITEMS_1 = SIZE(16, 4),
    RESIDENT_ITEMS_2 = SIZE(32, 8),
    RESIDENT_SHAPES = 3,
    /* select_where has no kernel for the first one: rtopk serves most of the rows that it would. */
    RESIDENT_WHERE_SHAPE = 1,
    /* Rows are this many times shorter than they may be, on average, at most. */
    RESIDENT_WASTE = 16,
    /* Of a block, at most; and at most where threads could keep more elements. */
    RESIDENT_THREADS_MAX = SIZE(1024, 96),
    RESIDENT_THREADS = SIZE(256, 64),
    RESIDENT_ROW_MAX = RESIDENT_ITEMS_2 * RESIDENT_THREADS_MAX,
    /* Blocks of a cluster, and threads of each, at most: as many as leave a thread 64 registers where two
     * blocks share a multiprocessor. */
    RESIDENT_CLUSTER_MAX = 16,
    RESIDENT_CLUSTER_THREADS = SIZE(512, 64),
    /* A list of entries has this room at least. What a sample promises to fill it to half goes there at
     * once. */
    RESIDENT_LIST = SIZE(256, 16),
    /* If more than 2k and this number of samples reach the lowest usable pivot, many tie with it. */
    RESIDENT_UNEVEN = SIZE(16, 4),
    /* A search ends when so few candidates are left, or fewer in small blocks, and in a cluster so few if
     * results go in any order. */
    RESIDENT_FEW = SIZE(96, 6),
    RESIDENT_CLUSTER_FEW = SIZE(256, 16),
    /* Entries that are sorted by counting ranks, at most; more of them go to buckets, or are merged. */
    RESIDENT_RANKED = SIZE(192, 14),
    /* As many as threads of merge_sort.cuh hold. */
    RESIDENT_ENTRIES_PER_THREAD = 8,
    /* Steps of a search that may choose their pivots by the counts; all further ones cut the range in three.
     */
    RESIDENT_GUESSES = 8,
    /* Of streamed rows: threads of a block, and blocks that share a row at most. */
    RESIDENT_STREAM_THREADS = SIZE(512, 64),
    RESIDENT_STREAM_CLUSTER = 4,
    /* Stages of each warp's ring, and groups of 16 bytes that a stage holds. */
    RESIDENT_STAGES = 2,
    RESIDENT_STAGE_GROUPS = SIZE(256, 32),
    /* Elements of a row's sample for each thread, and hits that are kept for each. */
    RESIDENT_SAMPLED = 8,
    RESIDENT_KEPT_ITEMS = 12,
    RESIDENT_KEPT = RESIDENT_KEPT_ITEMS * RESIDENT_STREAM_THREADS,
    /* Results of a streamed row, and its elements, at most. */
    RESIDENT_STREAM_RESULTS = SIZE(2048, 160),
    /* Rows of a grid, at most. Blocks and clusters go on to the rows behind these. */
    RESIDENT_GRID_ROWS = SIZE(INT32_MAX / RESIDENT_CLUSTER_MAX, 2),
};

#endif
