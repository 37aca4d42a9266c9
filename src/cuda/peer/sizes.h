/* SPDX-License-Identifier: Apache-2.0
 * Internal sizes of peer memory. TOPK_SHRINK makes them tiny, so that small inputs reach every boundary. */
#ifndef TOPK_SRC_CUDA_PEER_SIZES_H
#define TOPK_SRC_CUDA_PEER_SIZES_H

#include "../size.h"

enum {
    PEER_THREADS = SIZE(512, 32),
    /* Loads of a thread that are under way at once, of 16 bytes each. */
    PEER_LOADS = SIZE(4, 2),
    /* Blocks that store or take, for each multiprocessor. */
    PEER_BLOCKS_PER_SM = SIZE(2, 1),
    /* A run that stores and takes no more than this is one launch of one block. */
    PEER_SMALL_BYTES = SIZE(64 << 10, 600),
    /* Looks at a flag before a look at the time and at the abort word, which may lie in the host's memory. */
    PEER_LOOKS = SIZE(64, 3),
};
#endif
