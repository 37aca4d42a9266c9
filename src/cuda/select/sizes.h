/* SPDX-License-Identifier: Apache-2.0
 * Sizes that the parts of a selection share. TOPK_SHRINK makes them tiny, so that tests reach every boundary
 * with small inputs and few emulated threads. */
#ifndef TOPK_SRC_CUDA_SELECT_SIZES_H
#define TOPK_SRC_CUDA_SELECT_SIZES_H

enum {
#ifdef TOPK_SHRINK
    SELECT_DIGIT_BITS_MAX = 6,
    SELECT_SORT_MAX = 64,
    SELECT_TIES_KEPT = 16,
    SELECT_SORT_THREADS_MAX = 64,
    SELECT_MERGE_MAX = 8,
    SELECT_BUCKET_MAX = 4,
    SELECT_ASKING_TILES = 2,
#else
    /* The longest digit that a histogram in shared memory has bins for. */
    SELECT_DIGIT_BITS_MAX = 11,
    /* Results that one block sorts; and how many ties it sorts besides, where the first ones are wanted. */
    SELECT_SORT_MAX = 2048,
    SELECT_TIES_KEPT = 1024,
    SELECT_SORT_THREADS_MAX = 512,
    /* That block sorts up to the first number of entries by merging; more of them in buckets, unless one
     * bucket gets more than the second number. */
    SELECT_MERGE_MAX = 64,
    SELECT_BUCKET_MAX = 64,
    /* Once in so many tiles, a warp that filters a row for results asks what all warps have found. */
    SELECT_ASKING_TILES = 16,
#endif
    SELECT_BINS_MAX = 1 << SELECT_DIGIT_BITS_MAX,
};

#endif
