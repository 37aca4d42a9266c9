/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of bitonic. All but the counts of blocks and lists are powers of two. */
#ifndef TOPK_SRC_CUDA_BITONIC_SIZES_H
#define TOPK_SRC_CUDA_BITONIC_SIZES_H

#include <stdint.h>

#include "../size.h"

enum {
    /* Results of a row, at most, and the least run. */
    BITONIC_K_MAX = SIZE(2048, 256),
    BITONIC_RUN_MIN = 16,
    /* Entries that a block has in shared memory, at least, and where they have two words. */
    BITONIC_TILE = SIZE(4096, 256),
    BITONIC_TILE_OF_TWO = SIZE(2048, 128),
    BITONIC_THREADS = SIZE(512, 64),
    BITONIC_BLOCKS_PER_SM = SIZE(3, 1),
    /* Lists that a block merges, about. */
    BITONIC_MERGED = SIZE(8, 3),
    BITONIC_GRID_ROWS = SIZE(65535, 2),
};

/* In an entry of one word a position has 31 bits. */
#define BITONIC_ROW_MAX INT32_MAX

#endif
