/* SPDX-License-Identifier: Apache-2.0
 * How one block sorts entries by merging. Runs of 32 are sorted by counting; then two runs at a time are
 * merged: an entry's slot is its own rank plus its rank in the other run. */
#ifndef TOPK_SRC_CUDA_SELECT_MERGE_SORT_CUH
#define TOPK_SRC_CUDA_SELECT_MERGE_SORT_CUH

#include "entries.cuh"

/* The power of two that `count` is filled up to. */
TOPK_HOST_DEVICE uint32_t merged_size(uint32_t count) {
    uint32_t size = 2 * SIMT_WARP;
    while (size < count)
        size *= 2;
    return size;
}

/* Fills a list up with different entries behind all others. All threads. */
template <bool TWO> TOPK_DEVICE void fill_up(const entry_list<TWO> &list, uint32_t count, uint32_t size) {
    const uint64_t none = ~(uint64_t)0;
    for (uint32_t i = count + simt_thread(); i < size; i += simt_threads())
        list.put(i, TWO ? entry{none, none - i} : entry{none - i, 0});
}

/* Entries before `e` in the sorted run of `count`, a power of two, that begins at `first`. */
template <bool TWO>
TOPK_DEVICE uint32_t rank_in_run(const entry_list<TWO> &list, uint32_t first, uint32_t count,
                                 struct entry e) {
    uint32_t rank = 0;
    for (uint32_t step = count / 2; step > 0; step /= 2)
        rank += is_before(list.get(first + rank + step - 1), e) ? step : 0;
    return rank + is_before(list.get(first + rank), e);
}

/* Entries of the warp's lanes before the caller's. All lanes. */
template <bool TWO> TOPK_DEVICE uint32_t rank_among_lanes(struct entry e) {
    uint32_t rank = 0;
#pragma unroll 8
    for (uint32_t lane = 0; lane < SIMT_WARP; lane++) {
        struct entry other = {simt_shuffle(SIMT_ALL_LANES, e.high, lane),
                              TWO ? simt_shuffle(SIMT_ALL_LANES, e.low, lane) : 0};
        rank += is_before(other, e);
    }
    return rank;
}

/* Sorts `count` entries, ascending. All are different; a list has room for merged_size(count), at most
 * ENTRIES_PER_THREAD for each thread. All threads; between barriers. */
template <bool TWO> TOPK_DEVICE void sort_by_merging(const entry_list<TWO> &list, uint32_t count) {
    const uint32_t size = merged_size(count);
    struct entry held[ENTRIES_PER_THREAD] = {};
    uint32_t to[ENTRIES_PER_THREAD] = {};
    fill_up(list, count, size);
    simt_block_sync();
    for (uint32_t run = 1; run < size; run = run == 1 ? (uint32_t)SIMT_WARP : 2 * run) {
        for_own_slots(size, [&](uint32_t j, uint32_t slot)
                                TOPK_LAMBDA { /* whole warps have one */
                                              const uint32_t begin = slot & ~(run - 1);
                                              held[j] = list.get(slot);
                                              to[j] = run == 1
                                                          ? slot / SIMT_WARP * SIMT_WARP +
                                                                rank_among_lanes<TWO>(held[j])
                                                          : (slot & ~(2 * run - 1)) + (slot - begin) +
                                                                rank_in_run(list, begin ^ run, run, held[j]);
                                });
        simt_block_sync();
        put_entries(list, size, held, to);
        simt_block_sync();
    }
}

#endif
