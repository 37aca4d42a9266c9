/* SPDX-License-Identifier: Apache-2.0
 * The grid barrier, over the other primitives and hence the same code on the device and in the emulation.
 * Included by simt.cuh alone. */
#ifndef TOPK_SRC_CUDA_SIMT_GRID_CUH
#define TOPK_SRC_CUDA_SIMT_GRID_CUH

/* Every thread of every block of a cooperative launch: in any other, blocks that have not started would be
 * waited for. `state` is a word of global memory that was zero before the launch and serves all its grid
 * barriers; blocks number less than 2^31.
 *
 * Each block adds 1, block 0 as much as brings the sum of a round to 2^31: the top bit flips when the last
 * block arrives, and not before. */
TOPK_DEVICE void simt_grid_sync(uint32_t *state) {
    const uint32_t turn = 1u << 31;
    simt_block_sync();
    if (simt_thread() == 0) {
        uint32_t blocks = simt_blocks() * simt_blocks_y();
        bool first = simt_block() == 0 && simt_block_y() == 0;
        simt_fence_device();
        uint32_t before = simt_atomic_add(state, first ? turn - (blocks - 1) : 1u);
        while (((simt_load_relaxed(state) ^ before) & turn) == 0)
            ;
        simt_fence_device();
    }
    simt_block_sync();
}

#endif
