/* SPDX-License-Identifier: Apache-2.0
 * Results on their way to being sorted. An entry is (complement of the key, position): entries in ascending
 * order are results best first, ties by lowest position. Where the key has 32 bits at most and positions
 * 31, an entry is one word; otherwise two. */
#ifndef TOPK_SRC_CUDA_AIR_ENTRIES_CUH
#define TOPK_SRC_CUDA_AIR_ENTRIES_CUH

#include "../block.cuh"
#include "kernels.h"

/* Entries of one word have low == 0. */
struct entry {
    uint64_t high, low;
};

TOPK_DEVICE struct entry make_entry(bool two_words, uint64_t key, int64_t position) {
    if (two_words)
        return entry{~key, (uint64_t)position};
    return entry{(uint64_t)(uint32_t)~key << 32 | (uint32_t)position, 0};
}

TOPK_DEVICE int64_t entry_position(bool two_words, struct entry e) {
    return two_words ? (int64_t)e.low : (int64_t)(uint32_t)e.high;
}

TOPK_DEVICE bool is_before(struct entry a, struct entry b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* Entries in shared memory; TWO: of two words. */
template <bool TWO> struct entry_list {
    simt_shared<uint64_t> high, low;

    TOPK_MEMBER struct entry get(uint32_t at) const {
        return entry{high[at], TWO ? (uint64_t)low[at] : 0};
    }
    TOPK_MEMBER void put(uint32_t at, struct entry e) const {
        high[at] = e.high;
        if (TWO)
            low[at] = e.low;
    }
};

/* Room for `count` entries. */
template <bool TWO> TOPK_HOST_DEVICE entry_list<TWO> carve_entries(simt_arena &arena, uint32_t count) {
    entry_list<TWO> list;
    list.high = simt_carve<uint64_t>(arena, count);
    list.low = simt_carve<uint64_t>(arena, TWO ? count : 0);
    return list;
}

/* The power of two that `count` is filled up to for sorting. */
TOPK_HOST_DEVICE uint32_t sorted_size(uint32_t count) {
    uint32_t size = 2 * SIMT_WARP;
    while (size < count)
        size *= 2;
    return size;
}

/* Fills a list up to the size that is sorted, with different entries behind all others. All threads. */
template <bool TWO> TOPK_DEVICE void fill_up(const entry_list<TWO> &list, uint32_t count, uint32_t size) {
    const uint64_t none = ~(uint64_t)0;
    for (uint32_t i = count + simt_thread(); i < size; i += simt_threads())
        list.put(i, TWO ? entry{none, none - i} : entry{none - i, 0});
}

/* Entries of the sorted run of `count`, a power of two, from `first` on that are before `e`. */
template <bool TWO>
TOPK_DEVICE uint32_t rank_in_run(const entry_list<TWO> &list, uint32_t first, uint32_t count,
                                 struct entry e) {
    uint32_t rank = 0;
    for (uint32_t step = count / 2; step > 0; step /= 2)
        rank += is_before(list.get(first + rank + step - 1), e) ? step : 0;
    return rank + is_before(list.get(first + rank), e);
}

/* How many of the entries of a warp's lanes are before the caller's. */
template <bool TWO> TOPK_DEVICE uint32_t rank_in_warp(struct entry e) {
    uint32_t rank = 0;
#pragma unroll
    for (uint32_t lane = 0; lane < SIMT_WARP; lane++) {
        struct entry other = {simt_shuffle(SIMT_ALL_LANES, e.high, lane),
                              TWO ? simt_shuffle(SIMT_ALL_LANES, e.low, lane) : 0};
        rank += is_before(other, e);
    }
    return rank;
}

/* Sorts `count` entries, a power of two between 64 and ENTRIES_PER_THREAD for each thread, ascending; all are
 * different. Runs of 32 are sorted by counting; then two runs at a time are merged, for which an entry's
 * place is its own rank plus that in the other run. All threads; between barriers. */
enum { ENTRIES_PER_THREAD = 8 };

template <bool TWO> TOPK_DEVICE void sort_entries(const entry_list<TWO> &list, uint32_t count) {
    struct entry held[ENTRIES_PER_THREAD] = {};
    uint32_t to[ENTRIES_PER_THREAD] = {};
    for (uint32_t run = 1; run < count; run = run == 1 ? (uint32_t)SIMT_WARP : 2 * run) {
#pragma unroll
        for (uint32_t j = 0; j < ENTRIES_PER_THREAD; j++) {
            uint32_t i = j * simt_threads() + simt_thread();
            if (i >= count)
                continue; /* whole warps */
            held[j] = list.get(i);
            to[j] = run == 1 ? i / SIMT_WARP * SIMT_WARP + rank_in_warp<TWO>(held[j])
                             : (i & ~(2 * run - 1)) + (i & (run - 1)) +
                                   rank_in_run(list, (i & ~(run - 1)) ^ run, run, held[j]);
        }
        simt_block_sync();
#pragma unroll
        for (uint32_t j = 0; j < ENTRIES_PER_THREAD; j++)
            if (j * simt_threads() + simt_thread() < count)
                list.put(to[j], held[j]);
        simt_block_sync();
    }
}

#endif
