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
    /* Of kernels with a thread for each row. */
    SHARDED_ROW_THREADS = SIZE(256, 32),
    /* Of a block that advances a row, at most: bins of a thread, unless threads would be fewer than the ones
     * above. */
    SHARDED_ADVANCE_THREADS = SIZE(1024, 64),
    SHARDED_ADVANCE_BINS = SIZE(8, 1),
    /* Digits of keys of more than 16 bits, where rows are few. With d bits the best bin of float32 that are
     * uniform in [0, 1) has one in 2^(d - 8) of the elements: sign and exponent are 9 bits, and half of the
     * elements have the best exponent. Round 1 counts, lists and moves these. With 13 bits a thirty-second
     * is left, and a block's 32 KiB of bins leave room for its columns in 64 KiB, which each GPU has for a
     * block. Of many rows the counters would take longer than what they save. */
    SHARDED_DIGIT_FEW_ROWS = SIZE(13, 6),
    SHARDED_FEW_ROWS = SIZE(16, 2),
    /* Counters of a bin of elements of 8 bits: each lane has its own. */
    SHARDED_LANES = SIZE(32, 2),
    /* Of elements that a lane holds before its warp counts and lists them, and groups of 16 bytes that it
     * takes between two looks. */
    SHARDED_COLUMN_BYTES = SIZE(32, 8),
    SHARDED_STEP_GROUPS = 2,
    /* Slots of a list that a warp takes at once, at most. One atomic for each 128, 256 and 512 of 2^27
     * elements makes a round that reads 2^30 take 2180, 1497 and 1191 us. */
    SHARDED_SLOTS_MOST = SIZE(2048, 128),
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
