/* SPDX-License-Identifier: Apache-2.0
 * Sizes that the parts of a selection share. */
#ifndef TOPK_SRC_CUDA_SELECT_SIZES_H
#define TOPK_SRC_CUDA_SELECT_SIZES_H

#include "../size.h"

enum {
    /* The longest digit that a histogram in shared memory has bins for. */
    SELECT_DIGIT_BITS_MAX = SIZE(11, 6),
    /* Results that one block sorts; and how many ties it sorts besides, where the first ones are wanted. */
    SELECT_SORT_MAX = SIZE(2048, 64),
    SELECT_TIES_KEPT = SIZE(1024, 16),
    SELECT_SORT_THREADS_MAX = SIZE(512, 64),
    /* That block sorts up to the first number of entries by merging; more of them in buckets, unless one
     * bucket gets more than the second number. */
    SELECT_MERGE_MAX = SIZE(64, 8),
    SELECT_BUCKET_MAX = SIZE(64, 4),
    /* Tiles after which a warp that filters a row for results asks what all warps have found. */
    SELECT_ASKING_TILES = SIZE(16, 2),
    SELECT_BINS_MAX = 1 << SELECT_DIGIT_BITS_MAX,
};

#endif
