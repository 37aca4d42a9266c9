/* SPDX-License-Identifier: Apache-2.0
 * Sorting the results of shared rows: one block for a row, or several. */
#ifndef TOPK_SRC_CUDA_AIR_SORT_CUH
#define TOPK_SRC_CUDA_AIR_SORT_CUH

#include "../select/small_sort.cuh"
#include "../select/sorted_results.cuh"
#include "state.cuh"

/* Loads a row's entries; returns how many there are: r.k, or some more that tie. */
template <bool TWO>
TOPK_DEVICE uint32_t load_row(const struct air_args &a, int64_t row, const struct row &r,
                              const entry_list<TWO> &list) {
    const struct kth_range range = a.states[row].range;
    load_entries(a.target, row, 0, (uint32_t)r.k, list);
    const struct result_plan plan = plan_results(a.target, range, r.k);
    if (r.k == 0 || plan.in_order)
        return (uint32_t)r.k;
    uint32_t count = (uint32_t)(plan.winners + plan.ties);
    load_entries(a.target, row, (uint32_t)r.k, count, list);
    return count;
}

/* Shared memory of air_sort. Entries of two words leave no room for buckets on every GPU. */
template <bool TWO> struct sort_shared {
    entry_list<TWO> list;
    struct bucket_shared buckets;
};

template <bool TWO> TOPK_HOST_DEVICE struct sort_shared<TWO> carve_sort(simt_arena &arena, uint32_t entries) {
    struct sort_shared<TWO> s = {};
    s.list = carve_entries<TWO>(arena, entries);
    if (!TWO) {
        s.buckets = carve_buckets(arena);
        s.buckets.words = simt_carve<uint32_t>(arena, SELECT_BINS_MAX);
    }
    return s;
}

template <typename Element, bool TWO>
TOPK_KERNEL TOPK_BOUNDS(AIR_SORT_THREADS, 1) void air_sort(struct air_args a) {
    simt_arena arena = simt_shared_arena();
    struct sort_shared<TWO> s = carve_sort<TWO>(arena, a.block_entries);
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    for (int64_t row = simt_block(); row < a.rows.rows; row += simt_blocks()) {
        const struct row r = counted_row(a, row);
        uint32_t count = load_row(a, row, r, s.list);
        simt_block_sync();
        if (TWO)
            sort_by_merging(s.list, count);
        else
            sort_entries(s.list, s.buckets, count, r.length);
        write_entries<Element>(a.rows, row, r, s.list);
        simt_block_sync();
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
        const struct row r = counted_row(a, row);
        uint32_t count = load_row(a, row, r, list);
        simt_block_sync();
        write_ranked<Element>(a.rows, row, r, list, count, among_all_blocks());
        pad_row<Element>(a.rows, row, r, among_all_blocks());
        simt_block_sync();
    }
}

#endif
