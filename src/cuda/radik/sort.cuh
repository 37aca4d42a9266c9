/* SPDX-License-Identifier: Apache-2.0
 * Sorting the results of rows: one block for a row, or several. */
#ifndef TOPK_SRC_CUDA_RADIK_SORT_CUH
#define TOPK_SRC_CUDA_RADIK_SORT_CUH

#include "../select/sorted_rows.cuh"
#include "next.cuh"

/* Calls work(task, row, range) for every `step`-th row from `first` on. NEXT_ROW: the path that counts those
 * behind it. */
template <typename Element, int NEXT_ROW, typename Work>
TOPK_DEVICE void for_sorted_rows(const struct radik_args &a, uint32_t first, uint32_t step,
                                 const Work &work) {
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    const struct all_tasks all = tasks_of<Element>(a);
    for (int64_t i = first; i < all.rows; i += step) {
        if (i != first)
            TOPK_REACHED(NEXT_ROW);
        const struct task_row of = task_row_at(a.tasks, all, i);
        const struct radik_state &state = a.states[of.state];
        struct row r = row_at(a.rows, of.row);
        r.k = r.k < state.matches ? r.k : state.matches;
        work(of, r, state.range);
    }
}

template <typename Element, bool TWO>
TOPK_KERNEL TOPK_BOUNDS(RADIK_SORT_THREADS, 1) void radik_sort(struct radik_args a) {
    simt_arena arena = simt_shared_arena();
    const struct sort_shared<TWO> s = carve_sort<TWO>(arena, a.block_entries);
    for_sorted_rows<Element, TOPK_PATH(REACHED_RADIK_SORT_NEXT_ROW)>(
        a, simt_block(), simt_blocks(),
        [&](const struct task_row &of, const struct row &r, const struct kth_range &range)
            TOPK_LAMBDA { sort_row<Element>(a.rows, a.target, of.row, of.state, r, range, s); });
}

/* For few rows: several blocks share the entries of one. */
template <typename Element, bool TWO>
TOPK_KERNEL TOPK_BOUNDS(RADIK_RANK_THREADS, 1) void radik_rank(struct radik_args a) {
    simt_arena arena = simt_shared_arena();
    const entry_list<TWO> list = carve_entries<TWO>(arena, a.block_entries);
    for_sorted_rows<Element, TOPK_PATH(REACHED_RADIK_RANK_NEXT_ROW)>(
        a, simt_block_y(), simt_blocks_y(),
        [&](const struct task_row &of, const struct row &r, const struct kth_range &range)
            TOPK_LAMBDA { rank_row<Element>(a.rows, a.target, of.row, of.state, r, range, list); });
}

#endif
