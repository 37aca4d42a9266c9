/* SPDX-License-Identifier: Apache-2.0
 * Sorting the results of rows that blocks share: one block for a row, or several. */
#ifndef TOPK_SRC_CUDA_SELECT_SORTED_ROWS_CUH
#define TOPK_SRC_CUDA_SELECT_SORTED_ROWS_CUH

#include "by_position.cuh"
#include "small_sort.cuh"
#include "sorted_results.cuh"

/* Loads the entries of a row, whose place among other rows' entries is given; returns how many there are:
 * r.k, or some more that tie. If they are to be sorted by position, only results are left.
 * All threads; ends with a barrier. */
template <bool TWO>
TOPK_DEVICE uint32_t load_row(const struct target &target, int64_t place, const struct row &r,
                              const struct kth_range &range, const entry_list<TWO> &list) {
    const uint32_t k = (uint32_t)r.k;
    uint32_t count = k;
    load_entries(target, place, 0, k, list);
    const struct result_plan plan = plan_results(target, range, r.k);
    if (k > 0 && !plan.in_order) {
        count = (uint32_t)(plan.winners + plan.ties);
        load_entries(target, place, k, count, list);
    }
    simt_block_sync();
    if (target.by_position)
        keep_positions(list, (uint32_t)plan.winners, count, k, r.length);
    return count;
}

/* Shared memory of a block that sorts. Entries of two words leave no room for buckets on every GPU. */
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

/* Sorts a row in one block and writes its results. All threads. */
template <typename Element, bool TWO>
TOPK_DEVICE void sort_row(const struct row_args &rows, const struct target &target, int64_t row,
                          int64_t place, const struct row &r, const struct kth_range &range,
                          const struct sort_shared<TWO> &s) {
    const uint32_t count = load_row(target, place, r, range, s.list);
    if (TWO)
        sort_by_merging(s.list, count);
    else
        sort_entries(s.list, s.buckets, count, r.length);
    write_entries<Element>(rows, row, r, s.list);
    simt_block_sync();
}

/* The same for few rows: several blocks share the entries of one. */
template <typename Element, bool TWO>
TOPK_DEVICE void rank_row(const struct row_args &rows, const struct target &target, int64_t row,
                          int64_t place, const struct row &r, const struct kth_range &range,
                          const entry_list<TWO> &list) {
    const uint32_t count = load_row(target, place, r, range, list);
    write_ranked<Element>(rows, row, r, list, count, among_all_blocks());
    pad_row<Element>(rows, row, r, among_all_blocks());
    simt_block_sync();
}

#endif
