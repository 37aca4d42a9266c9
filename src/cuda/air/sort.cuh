/* SPDX-License-Identifier: Apache-2.0
 * Sorting the results of shared rows: one block for a row, or several. */
#ifndef TOPK_SRC_CUDA_AIR_SORT_CUH
#define TOPK_SRC_CUDA_AIR_SORT_CUH

#include "../select/sorted_rows.cuh"
#include "state.cuh"

template <typename Element, bool TWO>
TOPK_KERNEL TOPK_BOUNDS(AIR_SORT_THREADS, 1) void air_sort(struct air_args a) {
    simt_arena arena = simt_shared_arena();
    struct sort_shared<TWO> s = carve_sort<TWO>(arena, a.block_entries);
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    for (int64_t row = simt_block(); row < a.rows.rows; row += simt_blocks()) {
        if (row != simt_block())
            TOPK_REACHED(REACHED_AIR_SORT_NEXT_ROW);
        sort_row<Element>(a.rows, a.target, row, row, counted_row(a, row), a.states[row].range, s);
    }
}

/* For few rows: several blocks share the entries of one. */
template <typename Element, bool TWO>
TOPK_KERNEL TOPK_BOUNDS(AIR_RANK_THREADS, 1) void air_rank(struct air_args a) {
    simt_arena arena = simt_shared_arena();
    entry_list<TWO> list = carve_entries<TWO>(arena, a.block_entries);
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        if (row != simt_block_y())
            TOPK_REACHED(REACHED_AIR_RANK_NEXT_ROW);
        rank_row<Element>(a.rows, a.target, row, row, counted_row(a, row), a.states[row].range, list);
    }
}

#endif
