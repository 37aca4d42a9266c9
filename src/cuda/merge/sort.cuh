/* SPDX-License-Identifier: Apache-2.0
 * A block sorts candidates in shared memory, and finds each one's slot by a search among the sorted ones. */
#ifndef TOPK_SRC_CUDA_MERGE_SORT_CUH
#define TOPK_SRC_CUDA_MERGE_SORT_CUH

#include "../select/merge_sort.cuh"
#include "candidates.cuh"

struct merge_sort_shared {
    entry_list<true> list;       /* key and index */
    simt_shared<uint32_t> found; /* candidates; and whether an index is not allowed */
};

TOPK_HOST_DEVICE struct merge_sort_shared carve_merge_sort(simt_arena &arena, uint32_t entries) {
    struct merge_sort_shared s = {};
    s.list = carve_entries<true>(arena, merged_size(entries));
    s.found = simt_carve<uint32_t>(arena, 2);
    return s;
}

/* All candidates of a row, or a run of the list of its results. */
struct sort_task {
    int64_t row;
    int64_t first;  /* slot of the run */
    uint32_t count; /* candidates */

    TOPK_MEMBER int64_t element(const struct merge_args &a, uint32_t candidate) const {
        return a.listed != nullptr ? a.listed[row * a.rows.k_max + first + candidate]
                                   : element_of_candidate(a, row, candidate);
    }
};

/* Behind all candidates, and different for each slot: indices are below 2^63. */
TOPK_DEVICE struct entry no_entry(uint32_t slot) {
    return entry{~(uint64_t)0, ~(uint64_t)0 - slot};
}

template <typename Element>
TOPK_DEVICE struct entry sorted_entry(const struct merge_args &a, int64_t element, int64_t index,
                                      bool by_position) {
    const uint64_t key = by_position ? 0 : key_of<Element>(candidate_bits<Element>(a, element), a.rows.map);
    return entry{by_position ? 0 : ~key, (uint64_t)index};
}

/* Sorts by index what is at or before `last`. All threads, after a barrier. */
template <typename Element>
TOPK_DEVICE void sort_by_index(const struct merge_args &a, const struct sort_task &t,
                               const entry_list<true> &list, struct entry last) {
#pragma unroll 1
    for (uint32_t slot = simt_thread(); slot < t.count; slot += simt_threads()) {
        const int64_t element = t.element(a, slot), index = element < 0 ? -1 : candidate_index(a, element);
        const bool is_result =
            index >= 0 && !is_before(last, sorted_entry<Element>(a, element, index, false));
        list.put(slot, is_result ? entry{0, (uint64_t)index} : no_entry(slot));
    }
    simt_block_sync();
    sort_by_merging(list, t.count);
}

/* Puts the candidates into the list and sorts it. All threads. */
template <typename Element>
TOPK_DEVICE void sort_candidates(const struct merge_args &a, const struct sort_task &t,
                                 const struct merge_sort_shared &s, bool by_position) {
    uint32_t found = 0;
    bool is_invalid = false;
    if (simt_thread() < 2)
        s.found[simt_thread()] = 0;
    simt_block_sync();
#pragma unroll 1
    for (uint32_t slot = simt_thread(); slot < t.count; slot += simt_threads()) {
        const int64_t element = t.element(a, slot), index = element < 0 ? -1 : candidate_index(a, element);
        found += index >= 0;
        is_invalid |= index < MERGE_NONE;
        s.list.put(slot, index >= 0 ? sorted_entry<Element>(a, element, index, by_position) : no_entry(slot));
    }
    if (found != 0)
        simt_atomic_add(&s.found[0], found);
    if (is_invalid)
        simt_atomic_or(&s.found[1], 1u);
    simt_block_sync();
    sort_by_merging(s.list, t.count);
}

/* Writes the first `results` of the sorted candidates. All threads. */
template <typename Element>
TOPK_DEVICE void write_sorted(const struct merge_args &a, const struct sort_task &t,
                              const entry_list<true> &list, uint32_t results) {
    const uint32_t size = merged_size(t.count);
#pragma unroll 1
    for (uint32_t slot = simt_thread(); slot < t.count; slot += simt_threads()) {
        const int64_t element = t.element(a, slot), index = element < 0 ? -1 : candidate_index(a, element);
        if (index < 0)
            continue;
        const struct entry e = sorted_entry<Element>(a, element, index, a.by_position);
        const uint32_t rank = rank_in_run(list, 0, size, e);
        const struct entry there = list.get(rank < size ? rank : 0);
        if (rank < results && there.high == e.high && there.low == e.low)
            put_sorted<Element>(a, t.row * a.rows.k_max + t.first + rank, element,
                                candidate_bits<Element>(a, element), index);
    }
}

/* The k best of all candidates of a row. All threads. */
template <typename Element>
TOPK_DEVICE void sort_row(const struct merge_args &a, const struct sort_task &t,
                          const struct merge_sort_shared &s) {
    sort_candidates<Element>(a, t, s, false);
    const bool is_invalid = s.found[1] != 0;
    const int64_t found = is_invalid ? 0 : (int64_t)(uint32_t)s.found[0],
                  wanted = wanted_of_row(a.rows, t.row);
    const uint32_t results = (uint32_t)(wanted < found ? wanted : found);
    if (results > 0 && a.by_position) {
        const struct entry last = s.list.get(results - 1);
        simt_block_sync();
        sort_by_index<Element>(a, t, s.list, last);
    }
    if (results > 0)
        write_sorted<Element>(a, t, s.list, results);
    pad_merged<Element>(a, t.row, results + simt_thread(), simt_threads(), (uint64_t)a.rows.k_max,
                        is_invalid ? MERGE_NOT_ALLOWED : MERGE_NONE);
}

/* `entries`: args.run for the runs of a list, else all candidates of a row. */
template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(MERGE_SORT_THREADS, 1) void merge_sort(struct merge_args a) {
    const bool has_runs = a.listed != nullptr;
    const uint64_t runs = has_runs ? ((uint64_t)a.rows.k_max + MERGE_RUN - 1) / MERGE_RUN : 1;
    simt_arena arena = simt_shared_arena();
    const struct merge_sort_shared s =
        carve_merge_sort(arena, has_runs ? (uint32_t)MERGE_RUN : (uint32_t)a.candidates);
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    if (a.has_successor)
        simt_allow_successor();
    for (uint64_t unit = simt_block(); unit < (uint64_t)a.rows.rows * runs; unit += simt_blocks()) {
        struct sort_task t = {(int64_t)(unit / runs), (int64_t)(unit % runs) * MERGE_RUN,
                              (uint32_t)a.candidates};
        if (unit != simt_block()) {
            TOPK_REACHED(REACHED_MERGE_NEXT_SORT);
            simt_block_sync();
        }
        if (has_runs) {
            t.count = (uint32_t)clamp_extent(a.counts[t.row] - t.first, MERGE_RUN);
            if (t.count > 0) {
                sort_candidates<Element>(a, t, s, a.by_position);
                write_sorted<Element>(a, t, s.list, t.count);
            }
        } else {
            sort_row<Element>(a, t, s);
        }
    }
}

#endif
