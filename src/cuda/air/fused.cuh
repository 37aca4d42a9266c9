/* SPDX-License-Identifier: Apache-2.0
 * The last pass of the tuning fused_filter: the last block to finish with a row writes its results alone, as
 * the paper has it. There may be no last filter after it. */
#ifndef TOPK_SRC_CUDA_AIR_FUSED_CUH
#define TOPK_SRC_CUDA_AIR_FUSED_CUH

#include "next.cuh"

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(AIR_THREADS, AIR_BLOCKS_PER_SM) void air_fused(struct air_args a) {
    const block_shared<Element> s = begin_next<Element>(a);
    if (is_called_off(a.rows))
        return;
    const matcher<Element, false> predicate = {};
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        const struct row r = row_at(a.rows, row);
        if (next_pass(a, row, predicate, s) &&
            write_decided(a, row, r, source_of(a.rows, r, predicate), for_one_block(),
                          read_state(&a.states[row]), s)) {
            TOPK_REACHED(REACHED_AIR_FUSED);
            simt_block_sync(); /* all threads have read the phase */
            end_row(&a.states[row]);
        }
        if (a.target.kind == TARGET_OUTPUTS)
            pad_row<Element>(a.rows, row, r, among_all_blocks());
        simt_block_sync();
    }
}

#endif
