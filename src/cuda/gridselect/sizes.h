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
    GRIDSELECT_WARPS = SIZE(8, 2),
    GRIDSELECT_WARP_ELEMENTS = SIZE(512, 64),
    /* Elements of a block, at least, for each result. */
    GRIDSELECT_PER_RESULT = 16,
    /* Blocks tell each other what they have found after their first tile, and then each time that they have
     * read so many times as many again. A part has so many results at most, and a row so many parts. */
    GRIDSELECT_MEETING = SIZE(7, 1),
    GRIDSELECT_PART_MAX = 64,
    GRIDSELECT_PARTS_MAX = 1024,
    /* Warps that a multiprocessor is to hold. */
    GRIDSELECT_WARPS_PER_SM = 16,
    /* In rows up to this length positions leave a word of an entry room for a key of 32 bits. */
    GRIDSELECT_ONE_WORD_ROW = SIZE(INT32_MAX, 3000),
    /* Entries that a lane holds back where each has a queue of its own. */
    GRIDSELECT_LANE_QUEUE = 4,
    /* Rows of a grid, at most. Blocks go on to the rows behind these. */
    GRIDSELECT_GRID_ROWS = SIZE(65535, 2),
};

#endif
