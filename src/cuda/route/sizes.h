/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of route. TOPK_SHRINK makes them small, so that tests reach every boundary with few rows. */
#ifndef TOPK_SRC_CUDA_ROUTE_SIZES_H
#define TOPK_SRC_CUDA_ROUTE_SIZES_H

#include <stdint.h>

#include "../size.h"

enum {
    /* Of a block. */
    ROUTE_THREADS = SIZE(128, 64),
    /* Of a grid, at most. Warps go on to the rows behind these. */
    ROUTE_GRID_BLOCKS = SIZE(INT32_MAX, 2),
    /* The kernels, by the lanes that hold a row and the logits of each. The fewer the lanes, the more rows
     * share what a warp does for its rows at once; the more, the sooner a row is done. */
    ROUTE_CLASSES = 6,
    ROUTE_CLASS_AHEAD = 1, /* whose rows are loaded ahead */
    ROUTE_LANES_0 = 16,
    ROUTE_ITEMS_0 = 4,
    ROUTE_LANES_1 = 8,
    ROUTE_ITEMS_1 = 32,
    ROUTE_LANES_2 = 16,
    ROUTE_ITEMS_2 = 16,
    ROUTE_LANES_3 = 32,
    ROUTE_ITEMS_3 = 8,
    ROUTE_LANES_4 = 32,
    ROUTE_ITEMS_4 = 16,
    ROUTE_LANES_5 = 32,
    ROUTE_ITEMS_5 = 32,
    /* The most results that a row of fewer than 32 lanes gives. */
    ROUTE_FEW_RESULTS = 8,
    /* From this number of rows on 8 lanes hold a row, if it is groups of 16 bytes. A grid has no more
     * blocks than are resident, here for each multiprocessor, and the next rows of each are on their way. */
    ROUTE_MANY_ROWS = SIZE(1 << 14, 3),
    ROUTE_GRID_BLOCKS_AHEAD = SIZE(INT32_MAX, 1),
    ROUTE_BLOCKS_AHEAD = 6,
    ROUTE_WIDE_BLOCKS_AHEAD = 4, /* of elements of 8 bytes */
    /* The experts of a row that may be among its best, and at least two for each lane. */
    ROUTE_CANDIDATES = 32,
    /* Scores that a candidate is compared with in one go, at most. */
    ROUTE_RANKED_AT_ONCE = 16,
    /* Plain rows of so few warps have blocks of one warp, which are spread over more multiprocessors. */
    ROUTE_FEW_WARPS = SIZE(256, 2),
    /* Pieces of a row number up to 1024: with these bits products fit 32, and quotients are exact. */
    ROUTE_RECIPROCAL_BITS = 22,
};

#endif
