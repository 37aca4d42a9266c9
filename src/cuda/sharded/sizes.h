/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of shards on a GPU. TOPK_SHRINK makes them tiny, so that small inputs reach every boundary.
 */
#ifndef TOPK_SRC_CUDA_SHARDED_SIZES_H
#define TOPK_SRC_CUDA_SHARDED_SIZES_H

#include "../select/sizes.h"

enum {
    /* Of a block that counts, and how many of these a multiprocessor has. */
    SHARDED_THREADS = SIZE(512, 64),
    SHARDED_BLOCKS_PER_SM = SIZE(2, 1),
    /* Of a block that advances a row, and of kernels with a thread for each row. */
    SHARDED_ROW_THREADS = SIZE(256, 32),
    /* Of the bins in shared memory: neighbouring lanes count in different ones, so that equal keys of a warp
     * wait for each other less. */
    SHARDED_COPIES = 4,
    /* Tiles after which a block adds up: its counters have 32 bits, and a tile at most 2^14 elements. */
    SHARDED_RUN_TILES = SIZE(1 << 17, 2),
    /* Rows of a grid, at most. Blocks go on to the rows behind these. */
    SHARDED_GRID_ROWS = SIZE(65535, 2),
};
#endif
