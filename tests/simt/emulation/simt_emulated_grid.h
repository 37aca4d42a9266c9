/* SPDX-License-Identifier: Apache-2.0
 * The grid barrier, over the other primitives. Included by simt/grid.cuh alone. */
#ifndef TOPK_TESTS_SIMT_EMULATED_GRID_H
#define TOPK_TESTS_SIMT_EMULATED_GRID_H

/* The barrier's word as it was before the block arrived. */
typedef uint32_t simt_grid_arrival;

static const uint32_t simt_grid_turn = 1u << 31;

/* Each block adds 1, block 0 as much as brings the sum of a round to 2^31: the top bit flips when the last
 * block arrives, and not before. */
inline simt_grid_arrival simt_grid_arrive() {
    uint32_t before = 0;
    simt_block_sync();
    if (simt_thread() == 0) {
        const uint32_t blocks = simt_blocks() * simt_blocks_y();
        const bool first = simt_block() == 0 && simt_block_y() == 0;
        simt_fence_device();
        before = simt_atomic_add(simt_runtime::state_of_grid(), first ? simt_grid_turn - (blocks - 1) : 1u);
    }
    return before;
}

inline void simt_grid_wait(simt_grid_arrival before) {
    if (simt_thread() == 0) {
        while (((simt_load_relaxed(simt_runtime::state_of_grid()) ^ before) & simt_grid_turn) == 0)
            ;
        simt_fence_device();
    }
    simt_block_sync();
}

#endif
