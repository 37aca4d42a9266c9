/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of compact. TOPK_SHRINK makes them tiny, so that tests reach every boundary with small
 * inputs and few emulated threads. */
#ifndef TOPK_SRC_CUDA_COMPACT_SIZES_H
#define TOPK_SRC_CUDA_COMPACT_SIZES_H

enum {
#ifdef TOPK_SHRINK
    COMPACT_THREADS = 96,
    COMPACT_THREADS_8 = 96,
    COMPACT_RAGGED_THREADS = 64,
    COMPACT_GROUPS = 2,
    COMPACT_GROUPS_8 = 1,
    COMPACT_BITS = 8,
    COMPACT_BLOCKS_PER_SM = 1,
    COMPACT_BLOCKS_PER_SM_8 = 1,
    COMPACT_RAGGED_BLOCKS_PER_SM = 1,
    COMPACT_CHUNK_THREADS = 64,
    COMPACT_CHUNK_BLOCKS_PER_SM = 1,
    COMPACT_SCANNED_EACH = 2,
    /* Half a tile of 8-bit elements: rows start between a boundary and where it is moved to. */
    COMPACT_LINE_BYTES = 512,
    COMPACT_NARROW_ROW = 1024,
#else
    /* Threads of a block: for dense rows of wider elements, for those of 8 bits or 1 bit, and for other rows.
     */
    COMPACT_THREADS = 1024,
    COMPACT_THREADS_8 = 512,
    COMPACT_RAGGED_THREADS = 512,
    /* 16-byte groups of a tile for each thread. Two groups of 8-bit elements fill 32 bits with hits. */
    COMPACT_GROUPS = 4,
    COMPACT_GROUPS_8 = 2,
    /* Elements of a tile for each thread, of a bit mask. */
    COMPACT_BITS = 32,
    COMPACT_BLOCKS_PER_SM = 1,
    COMPACT_BLOCKS_PER_SM_8 = 2,
    COMPACT_RAGGED_BLOCKS_PER_SM = 2,
    /* Of the kernels that go by chunks of elements or by rows; how many of these a thread sums up. */
    COMPACT_CHUNK_THREADS = 512,
    COMPACT_CHUNK_BLOCKS_PER_SM = 3,
    COMPACT_SCANNED_EACH = 4,
    /* Where a tile begins or ends inside of a row is a multiple of this, in memory. */
    COMPACT_LINE_BYTES = 128,
    /* Dense rows up to this length find positions by a division of 32 bits; no tile is longer. */
    COMPACT_NARROW_ROW = 1 << 16,
#endif
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
