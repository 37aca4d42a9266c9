/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of gridselect. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_SIZES_H
#define TOPK_SRC_CUDA_GRIDSELECT_SIZES_H

#include <stdint.h>

#include "../size.h"

enum {
    /* Results of a row, at most. */
    GRIDSELECT_K_MAX = SIZE(2048, 300),
    /* Warps of a block, at most, and elements that each of them should have. */
    GRIDSELECT_WARPS = SIZE(16, 4),
    GRIDSELECT_WARP_ELEMENTS = SIZE(512, 64),
    /* Up to this number of results blocks have half as many warps, if multiprocessors would be left over.
     * With more results, merging warps and blocks takes long. */
    GRIDSELECT_FEW_RESULTS = SIZE(128, 16),
    /* Warps that a multiprocessor is to hold. */
    GRIDSELECT_WARPS_PER_SM = SIZE(16, 4),
    /* Slots of a warp's ring, a tile's part in each: at most, and where lists leave little shared memory.
     * Powers of two. */
    GRIDSELECT_SLOTS = SIZE(4, 2),
    GRIDSELECT_SLOTS_LEAST = SIZE(2, 1),
    /* Elements of a block, at least, where blocks are too few to tell each other parts. */
    GRIDSELECT_ALONE = SIZE(32768, 1000),
    /* Before warps of a block share a bound for the first time, lanes push this number of elements of their
     * first tile at most. */
    GRIDSELECT_OPENING = 4,
    /* Blocks tell each other what they have found within their first tile, and again after each
     * GRIDSELECT_MEETING times as many elements; the most results of a part, and the most parts of a row. */
    GRIDSELECT_MEETING = SIZE(7, 1),
    GRIDSELECT_PART_MAX = 64,
    GRIDSELECT_PARTS_MAX = 1024,
    /* How often a block asks for the first parts of others. */
    GRIDSELECT_PATIENCE = SIZE(32, 2),
    /* Entries that a thread of the last block takes at once. */
    GRIDSELECT_SENT_AT_ONCE = 4,
    /* In rows up to this length positions leave a word of an entry room for a key of 32 bits. */
    GRIDSELECT_ONE_WORD_ROW = SIZE(INT32_MAX, 3000),
    /* Entries that a lane holds back where each has a queue of its own. */
    GRIDSELECT_LANE_QUEUE = 4,
    /* Each warp has rows of its own where these are at most of this length, with at most this number of
     * results, and where each multiprocessor has at least this number of rows. */
    GRIDSELECT_LONE_ROW = SIZE(1024, 192),
    GRIDSELECT_LONE_RESULTS = SIZE(256, 96),
    GRIDSELECT_LONE_ROWS_PER_SM = SIZE(8, 1),
    /* The most warps of such a block; warps that a multiprocessor is to hold; and the same for elements of 64
     * bits, which take more registers. */
    GRIDSELECT_LONE_WARPS = SIZE(4, 2),
    GRIDSELECT_LONE_WARPS_PER_SM = SIZE(32, 4),
    GRIDSELECT_LONE_WARPS_PER_SM_64 = SIZE(24, 4),
    /* Slots of such a warp's ring, a row in each; and groups of 16 bytes before a row's body, where the
     * elements before it go: slots and bodies begin at multiples of 128 bytes. */
    GRIDSELECT_LONE_SLOTS = 2,
    GRIDSELECT_LONE_LEAD = 8,
    /* Rows with at most this number of elements for each lane are pushed as they come. */
    GRIDSELECT_LONE_FEW = 2,
    /* Of the lanes' best elements, 0 being the best, the one that about 40 elements of a row of any length
     * come before; and how many ranks a sample of 32 is to be wrong by, for every tenth row to have too few.
     */
    GRIDSELECT_LONE_BEST = SIZE(23, 12),
    GRIDSELECT_LONE_MARGIN = SIZE(3, 1),
    /* Rows of a grid, at most. Blocks go on to the rows behind these. */
    GRIDSELECT_GRID_ROWS = SIZE(65535, 2),
};

#endif
