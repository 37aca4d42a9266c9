/* SPDX-License-Identifier: Apache-2.0
 * A block sorts candidates in shared memory: in buckets, or by merging (select/small_sort.cuh). A candidate's
 * slot is its rank there. */
#ifndef TOPK_SRC_CUDA_MERGE_SORT_CUH
#define TOPK_SRC_CUDA_MERGE_SORT_CUH

#include "../select/small_sort.cuh"
#include "candidates.cuh"

struct merge_sort_shared {
    entry_list<true> list; /* key and index; by position the index and nothing */
    struct bucket_shared buckets;
    simt_shared<uint32_t> found; /* entries of the list; and whether an index is not allowed */
};

TOPK_HOST_DEVICE struct merge_sort_shared carve_merge_sort(simt_arena &arena, uint32_t entries,
                                                           uint32_t threads) {
    struct merge_sort_shared s = {};
    s.list = carve_entries<true>(arena, merged_size(entries));
    s.buckets = carve_buckets(arena);
    s.buckets.words = simt_carve<uint32_t>(arena, BUCKET_WORDS * threads);
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

template <typename Element>
TOPK_DEVICE struct entry sorted_entry(const struct merge_args &a, int64_t element, int64_t index,
                                      bool by_position) {
    return by_position ? entry{(uint64_t)index, 0}
                       : entry{~(uint64_t)key_of<Element>(candidate_bits<Element>(a, element), a.rows.map),
                               (uint64_t)index};
}

/* Sorted entries. */
struct sorted_entries {
    bool are_placed; /* in buckets; else the list is in order */
    struct bucket_map map;
    uint32_t count;

    TOPK_MEMBER uint32_t rank(const struct merge_sort_shared &s, const struct entry &e) const {
        return are_placed ? rank_of_placed(s.list, s.buckets, map, count, e)
                          : rank_in_run(s.list, 0, merged_size(count), e);
    }
};

/* Calls work(number, slot) for the candidates of a thread, alike for all lanes of a warp: slots behind the
 * last one have none. */
template <typename Work> TOPK_DEVICE void for_candidates(const struct sort_task &t, const Work &work) {
    uint32_t number = 0;
#pragma unroll 1
    for (uint32_t slot = simt_thread(); slot - simt_lane() < t.count; slot += simt_threads())
        work(number++, slot);
}

/* Sorts the candidates that are chosen: a bit for each of the thread's. All threads, after a barrier; ends
 * with one. */
template <typename Element>
TOPK_DEVICE struct sorted_entries sort_candidates(const struct merge_args &a, const struct sort_task &t,
                                                  const struct merge_sort_shared &s, bool by_position,
                                                  uint32_t chosen) {
    struct sorted_entries sorted = {};
    if (simt_thread() < 2)
        s.found[simt_thread()] = 0;
    simt_block_sync();
    for_candidates(t, [&](uint32_t number, uint32_t slot) TOPK_LAMBDA {
        const int64_t element = slot < t.count ? t.element(a, slot) : -1;
        const int64_t index = element < 0 ? MERGE_NONE : candidate_index(a, element);
        const bool exists = index >= 0 && (chosen >> number & 1) != 0;
        const uint32_t lanes = simt_ballot(SIMT_ALL_LANES, exists);
        uint32_t first = 0;
        if (index < MERGE_NONE)
            simt_atomic_or(&s.found[1], 1u);
        if (simt_lane() == 0 && lanes != 0)
            first = simt_atomic_add(&s.found[0], simt_popc(lanes));
        first = simt_shuffle(SIMT_ALL_LANES, first, 0) + simt_popc(lanes & ((1u << simt_lane()) - 1));
        if (exists)
            s.list.put(first, sorted_entry<Element>(a, element, index, by_position));
    });
    simt_block_sync();
    sorted.count = s.found[0];
    sorted.are_placed =
        sorted.count > SELECT_MERGE_MAX && place_entries(s.list, s.buckets, sorted.count, 0, &sorted.map);
    if (!sorted.are_placed)
        sort_by_merging(s.list, sorted.count);
    return sorted;
}

/* Calls work(number, slot of the result, element, index) for the first `results` of the sorted candidates.
 * All threads. */
template <typename Element, typename Work>
TOPK_DEVICE void for_results(const struct merge_args &a, const struct sort_task &t,
                             const struct merge_sort_shared &s, const struct sorted_entries &sorted,
                             bool by_position, uint32_t chosen, uint32_t results, const Work &work) {
    for_candidates(t, [&](uint32_t number, uint32_t slot) TOPK_LAMBDA {
        const int64_t element = slot < t.count && (chosen >> number & 1) != 0 ? t.element(a, slot) : -1;
        const int64_t index = element < 0 ? MERGE_NONE : candidate_index(a, element);
        if (index < 0)
            return;
        const uint32_t rank = sorted.rank(s, sorted_entry<Element>(a, element, index, by_position));
        if (rank < results)
            work(number, rank, element, index);
    });
}

/* Sorts, and writes what are results: entries of a run, or the k best of all candidates of a row. By position
 * the k best are sorted again. All threads. */
template <typename Element>
TOPK_DEVICE void sort_and_write(const struct merge_args &a, const struct sort_task &t,
                                const struct merge_sort_shared &s, bool is_run) {
    bool by_position = is_run && a.by_position, is_invalid = false;
    uint32_t chosen = ~0u, results;
#pragma unroll 1
    for (;;) {
        const struct sorted_entries sorted = sort_candidates<Element>(a, t, s, by_position, chosen);
        const int64_t wanted = is_run ? t.count : wanted_of_row(a.rows, t.row);
        const bool is_last = by_position || !a.by_position;
        uint32_t next = 0;
        is_invalid |= s.found[1] != 0;
        results = is_invalid ? 0 : (uint32_t)(wanted < sorted.count ? wanted : sorted.count);
        for_results<Element>(a, t, s, sorted, by_position, chosen, results,
                             [&](uint32_t number, uint32_t rank, int64_t element, int64_t index) TOPK_LAMBDA {
                                 next |= 1u << number;
                                 if (is_last)
                                     put_sorted<Element>(a, t.row * a.rows.k_max + t.first + rank, element,
                                                         candidate_bits<Element>(a, element), index);
                             });
        if (is_last)
            break;
        simt_block_sync();
        chosen = next;
        by_position = true;
    }
    if (!is_run)
        pad_merged<Element>(a, t.row, results + simt_thread(), simt_threads(), (uint64_t)a.rows.k_max,
                            is_invalid ? MERGE_NOT_ALLOWED : MERGE_NONE);
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(MERGE_SORT_THREADS, 1) void merge_sort(struct merge_args a) {
    const bool has_runs = a.listed != nullptr;
    const uint64_t runs = has_runs ? ((uint64_t)a.rows.k_max + MERGE_RUN - 1) / MERGE_RUN : 1;
    simt_arena arena = simt_shared_arena();
    const struct merge_sort_shared s =
        carve_merge_sort(arena, has_runs ? (uint32_t)MERGE_RUN : (uint32_t)a.candidates, simt_threads());
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
        if (has_runs)
            t.count = (uint32_t)clamp_extent(a.counts[t.row] - t.first, MERGE_RUN);
        if (t.count > 0 || !has_runs)
            sort_and_write<Element>(a, t, s, has_runs);
    }
}

#endif
