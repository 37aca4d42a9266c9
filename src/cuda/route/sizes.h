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
    /* The kernels: a row is held by so many lanes, with so many logits each. A problem is served by the first
     * that has room for its experts and a lane for each result. */
    ROUTE_CLASSES = 5,
    ROUTE_LANES_0 = 16,
    ROUTE_ITEMS_0 = 4,
    ROUTE_LANES_1 = 16,
    ROUTE_ITEMS_1 = 16,
    ROUTE_LANES_2 = 32,
    ROUTE_ITEMS_2 = 8,
    ROUTE_LANES_3 = 32,
    ROUTE_ITEMS_3 = 16,
    ROUTE_LANES_4 = 32,
    ROUTE_ITEMS_4 = 32,
    /* Experts of a row that may be among the best, for each of its lanes. */
    ROUTE_CANDIDATES = SIZE(6, 2),
};

#endif
