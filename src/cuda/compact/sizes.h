/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of compact. */
#ifndef TOPK_SRC_CUDA_COMPACT_SIZES_H
#define TOPK_SRC_CUDA_COMPACT_SIZES_H

#include "../size.h"

enum {
    /* Threads of a block: for dense rows of wider elements, for elements of 8 bits or 1 bit, and otherwise.
     */
    COMPACT_THREADS = SIZE(1024, 96),
    COMPACT_THREADS_8 = SIZE(512, 96),
    COMPACT_RAGGED_THREADS = SIZE(512, 64),
    /* 16-byte groups of a tile for each thread. Two groups of 8-bit elements fill 32 bits with hits. */
    COMPACT_GROUPS = SIZE(4, 2),
    COMPACT_GROUPS_8 = SIZE(2, 1),
    /* Elements of a tile for each thread, of a bit mask. */
    COMPACT_BITS = SIZE(32, 8),
    COMPACT_BLOCKS_PER_SM = 1,
    COMPACT_BLOCKS_PER_SM_8 = SIZE(2, 1),
    COMPACT_RAGGED_BLOCKS_PER_SM = SIZE(2, 1),
    /* Of the kernels that go by chunks of elements or by rows; how many of these a thread sums up. */
    COMPACT_CHUNK_THREADS = SIZE(512, 64),
    COMPACT_CHUNK_BLOCKS_PER_SM = SIZE(3, 1),
    COMPACT_SCANNED_EACH = SIZE(4, 2),
    /* Where a tile begins or ends inside of a row is a multiple of this, in memory. Shrunk, it is half a tile
     * of 8-bit elements: rows start between a boundary and where it is moved to. */
    COMPACT_LINE_BYTES = SIZE(128, 512),
    /* Dense rows up to this length find positions by a division of 32 bits; no tile is longer. */
    COMPACT_NARROW_ROW = SIZE(1 << 16, 1024),
    /* Elements that are fetched before they are compared, where a tile has several rows. */
    COMPACT_BATCH = 4,
    /* Elements of a chunk, a word of bits for each lane of a warp; elements that a thread has in flight. */
    COMPACT_CHUNK = 32 * 32,
    COMPACT_BALLOTS = 8,
    /* So few hits of a chunk are written by the lanes that have them. */
    COMPACT_FEW = 160,
    COMPACT_SCANNED = COMPACT_CHUNK_THREADS * COMPACT_SCANNED_EACH,
};

#endif
