/* SPDX-License-Identifier: Apache-2.0
 * How blocks share a row. */
#ifndef TOPK_SRC_CUDA_SELECT_SHARE_CUH
#define TOPK_SRC_CUDA_SELECT_SHARE_CUH

#include "../simt.cuh"

/* How many blocks share the work, and this one's number among them. */
struct share {
    uint32_t block, blocks;
};

TOPK_DEVICE struct share among_all_blocks(void) {
    return share{simt_block(), simt_blocks()};
}

TOPK_DEVICE struct share for_one_block(void) {
    return share{0, 1};
}

#endif
