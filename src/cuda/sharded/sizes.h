/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of shards on a GPU. TOPK_SHRINK makes them tiny, so that small inputs reach every boundary.
 */
#ifndef TOPK_SRC_CUDA_SHARDED_SIZES_H
#define TOPK_SRC_CUDA_SHARDED_SIZES_H

#include "../select/sizes.h"

enum {
    /* Of a block that counts, and how many of these a multiprocessor has, in the first round and later. */
    SHARDED_THREADS = SIZE(512, 64),
    SHARDED_FIRST_BLOCKS_PER_SM = SIZE(3, 1),
    SHARDED_BLOCKS_PER_SM = SIZE(2, 1),
    /* Of a block that advances a row, and of kernels with a thread for each row. */
    SHARDED_ROW_THREADS = SIZE(256, 32),
    /* Counters of a bin of elements of 8 bits: each lane has its own. */
    SHARDED_LANES = SIZE(32, 2),
    /* Of elements that a warp counts and writes to a list at once, and slots for how many times as many it
     * takes at once, at most. One atomic for each 128, 256 and 512 of 2^27 elements makes a round that reads
     * 2^30 take 2180, 1497 and 1191 us. */
    SHARDED_FLUSH_BYTES = SIZE(1024, 64),
    SHARDED_FLUSHES_MOST = 8,
    /* Tiles after which a block adds up: its counters have 32 bits, and a tile at most 2^14 elements. */
    SHARDED_RUN_TILES = SIZE(1 << 17, 2),
    /* Of a block that selects; all but one warp have elements of a tile. */
    SHARDED_SELECT_THREADS = SIZE(512, 96),
    SHARDED_SELECT_BLOCKS_PER_SM = SIZE(2, 1),
    /* Elements of a row that one launch selects from: so few that look-back counts both kinds in one word.
     * Whole groups of 16 bytes. */
    SHARDED_SEGMENT = SIZE(1 << 30, 2048),
    /* Words of look-back that a state has, unless one row needs more. Launches take as many rows as fit. */
    SHARDED_WORDS = SIZE(1 << 20, 20),
    /* Rows of a grid, at most. Blocks go on to the rows behind these. */
    SHARDED_GRID_ROWS = SIZE(65535, 2),
    /* In a word of look-back the count of ties begins with this bit. */
    SHARDED_TIES_SHIFT = 31,
    /* Of what comes before a tile, the number of its ties that are results: behind its first slot. */
    SHARDED_TAKEN_SHIFT = 48,
};

/* Elements of a tile of a block that selects. */
#define SHARDED_SELECT_TILE(element_bytes)                                                                   \
    ((SHARDED_SELECT_THREADS - 32) * ((element_bytes) == 1 ? 32 : 64 / (element_bytes)))

#endif
