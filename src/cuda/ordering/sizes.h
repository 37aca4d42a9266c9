/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of ordering. */
#ifndef TOPK_SRC_CUDA_ORDERING_SIZES_H
#define TOPK_SRC_CUDA_ORDERING_SIZES_H

#include <stdint.h>

#include "../size.h"

enum {
    /* Blocks of a cluster, at most; and threads of a small block and of a large one. */
    ORDERING_CLUSTER_MAX = 16,
    ORDERING_THREADS = SIZE(512, 32),
    ORDERING_THREADS_MAX = SIZE(1024, 64),
    /* Entries that a block holds for each of its threads, as merge_sort.cuh has it; and sixteenths of its
     * room that a small block and a large one expect to fill, at most. Large blocks draw more samples. So a
     * block nearly always gets no more than it holds. */
    ORDERING_HELD = 8,
    ORDERING_FILL = SIZE(8, 14),
    ORDERING_FILL_LARGE = SIZE(10, 14),
    /* Rows of a grid, at most: clusters go on to the rows behind these. */
    ORDERING_GRID_ROWS = SIZE(INT32_MAX / ORDERING_CLUSTER_MAX, 2),
    /* Threads of a block that fetches elements. */
    ORDERING_GATHER_THREADS = 256,
};

#endif
