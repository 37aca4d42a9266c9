/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of drtopk. */
#ifndef TOPK_SRC_CUDA_DRTOPK_SIZES_H
#define TOPK_SRC_CUDA_DRTOPK_SIZES_H

#include <stdint.h>

#include "../size.h"

enum {
    /* A subrange has 2^exponent elements. The first one of a row may lack up to 15 bytes and still has all
     * its delegates. An offset has 16 bits. */
    DRTOPK_EXPONENT_MIN = 4,
    DRTOPK_EXPONENT_MIN_OF_BYTES = 5,
    DRTOPK_EXPONENT_MAX = 15,
    /* An element that is scanned again costs this many times as much as one that a warp at the end of a
     * launch might have read. */
    DRTOPK_WAITING = 4,
    DRTOPK_BETA_MAX = 4,
    /* The first top-k may find up to k / DRTOPK_SURPLUS delegates more than k. */
    DRTOPK_SURPLUS = SIZE(16, 4),
    DRTOPK_BETA = 2,
    /* Delegates of a row for each result, at least. */
    DRTOPK_DELEGATES_OF_K = 2,
    /* Subranges up to this exponent are reduced by a thread each, from shared memory, unless tuning says
     * otherwise. */
    DRTOPK_COALESCED_MAX = 6,
    /* Of the kernels that make delegates; and of the one that takes them: its tiles have a subrange for each
     * thread, or fewer, down to the second number, where a multiprocessor would have fewer
     * than DRTOPK_TILES_PER_SM tiles. */
    DRTOPK_THREADS = SIZE(128, 64),
    DRTOPK_BLOCKS_PER_SM = SIZE(6, 1),
    DRTOPK_COALESCED_BLOCKS_PER_SM = SIZE(24, 1),
    DRTOPK_COALESCED_THREADS = 64,
    DRTOPK_TILE = SIZE(256, 64),
    DRTOPK_TILE_MIN = SIZE(32, 16),
    DRTOPK_TILES_PER_SM = 4,
    DRTOPK_TILE_BLOCKS_PER_SM = SIZE(4, 1),
    /* Warps share subranges that are scanned again in parts of 2^that many elements. */
    DRTOPK_PART_EXPONENT = SIZE(11, 5),
    /* Of a warp's ring: slots; groups of 16 bytes in each; and of these the fewest of one subrange for a
     * lane. */
    DRTOPK_SLOTS = 2,
    DRTOPK_CHUNK = SIZE(256, 32),
    DRTOPK_GROUPS = SIZE(4, 1),
    /* Groups of a lane that are on their way while subranges are scanned again. */
    DRTOPK_AHEAD = 4,
    DRTOPK_GRID_ROWS = SIZE(65535, 2),
};

#endif
