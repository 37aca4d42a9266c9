/* SPDX-License-Identifier: Apache-2.0
 * The room that look-back needs (lookback.cuh). */
#ifndef TOPK_SRC_CUDA_LOOKBACK_H
#define TOPK_SRC_CUDA_LOOKBACK_H

#include <stdint.h>

#include "size.h"

/* Tiles of a bundle: one for each lane of a warp. */
enum { LOOK_BACK_BUNDLE = 32 };

/* Tiles whose words a thread reads at once, where each has a sum of its own. */
enum { LOOK_BACK_TILES = SIZE(4, 2) };

/* Words for one sum over `tiles` tiles. All zero before the launch. */
static inline int64_t look_back_words(int64_t tiles) {
    return tiles + 2 * (tiles / LOOK_BACK_BUNDLE + 1);
}

#endif
