/* SPDX-License-Identifier: Apache-2.0
 * The last pass of the tuning fused_filter: the last block to finish with a row writes its results alone, as
 * the paper has it. There may be no last filter after it. */
#ifndef TOPK_SRC_CUDA_AIR_FUSED_CUH
#define TOPK_SRC_CUDA_AIR_FUSED_CUH

#include "next.cuh"

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(AIR_THREADS, AIR_BLOCKS_PER_SM) void air_fused(struct air_args a) {
    const block_shared<Element> s = begin_next<Element>(a);
    for_shared_rows<Element, false, TOPK_PATH(REACHED_AIR_FUSED_NEXT_ROW)>(
        a, [&](int64_t row, const matcher<Element, false> &predicate) TOPK_LAMBDA {
            const struct row r = row_at(a.rows, row);
            if (next_pass(a, row, predicate, s)) {
                const divided_row<Element, false> w = {
                    a, s, row, r, source_of(a.rows, r, predicate), read_state(&a.states[row])};
                if (write_decided(w, for_one_block())) {
                    TOPK_REACHED(REACHED_AIR_FUSED);
                    simt_block_sync(); /* all threads have read the phase */
                    end_row(w.counters());
                }
            }
            if (a.target.kind == TARGET_OUTPUTS)
                pad_row<Element>(a.rows, row, r, among_all_blocks());
        });
}

#endif
