/* SPDX-License-Identifier: Apache-2.0
 * Short sorted lists: a block holds all candidates of a row in shared memory, and each thread searches for
 * its own ones in the other lists. What it finds before them, and their places, are their ranks. */
#ifndef TOPK_SRC_CUDA_MERGE_SHORT_CUH
#define TOPK_SRC_CUDA_MERGE_SHORT_CUH

#include "candidates.cuh"

template <typename Element> struct merge_short_shared {
    simt_shared<key_word_t<Element>> keys; /* of each candidate */
    simt_shared<int64_t> indices;          /* likewise; INT64_MAX: none */
    simt_shared<uint32_t> sums;            /* of warps */
};

template <typename Element>
TOPK_HOST_DEVICE merge_short_shared<Element> carve_merge_short(simt_arena &arena, uint32_t candidates) {
    merge_short_shared<Element> s = {};
    s.indices = simt_carve<int64_t>(arena, candidates);
    s.keys = simt_carve<key_word_t<Element>>(arena, candidates);
    s.sums = simt_carve<uint32_t>(arena, MERGE_SHORT_THREADS / SIMT_WARP);
    return s;
}

/* A thread's candidates. */
template <typename Element> struct short_items {
    merge_rank<Element> ranks[MERGE_SHORT_ITEMS]; /* index: as it was read */
    key_word_t<Element> bits[MERGE_SHORT_ITEMS];
    int64_t elements[MERGE_SHORT_ITEMS];
    uint32_t lists[MERGE_SHORT_ITEMS], places[MERGE_SHORT_ITEMS];
};

template <typename Element>
TOPK_DEVICE void load_short(const struct merge_args &a, int64_t row, short_items<Element> &items) {
    const uint32_t length = (uint32_t)a.rows.length_max;
#pragma unroll
    for (uint32_t i = 0; i < MERGE_SHORT_ITEMS; i++) {
        const uint32_t number = i * simt_threads() + simt_thread(), list = number / length;
        items.lists[i] = list;
        items.places[i] = number - list * length;
        items.elements[i] = -1;
        if (number < a.candidates && items.places[i] < (uint64_t)length_of_list(a, list, row))
            items.elements[i] = list * a.list_stride + row * a.rows.row_stride + items.places[i];
    }
#pragma unroll
    for (uint32_t i = 0; i < MERGE_SHORT_ITEMS; i++) {
        items.ranks[i].index = items.elements[i] < 0 ? MERGE_NONE : candidate_index(a, items.elements[i]);
        items.bits[i] = items.elements[i] < 0 ? 0 : candidate_bits<Element>(a, items.elements[i]);
    }
#pragma unroll
    for (uint32_t i = 0; i < MERGE_SHORT_ITEMS; i++)
        items.ranks[i].key = items.ranks[i].index < 0 ? 0 : key_of<Element>(items.bits[i], a.rows.map);
}

/* Puts a thread's candidates where all threads find them, and notes how many its warp has. */
template <typename Element>
TOPK_DEVICE void hold_short(const struct merge_args &a, const merge_short_shared<Element> &s,
                            const short_items<Element> &items) {
    uint32_t entries = 0;
#pragma unroll
    for (uint32_t i = 0; i < MERGE_SHORT_ITEMS; i++) {
        const uint32_t number = i * simt_threads() + simt_thread();
        const int64_t index = items.ranks[i].index;
        entries += index >= 0;
        if (number < a.candidates) {
            s.keys[number] = items.ranks[i].key;
            s.indices[number] = index >= 0 ? index : INT64_MAX;
        }
    }
    entries = simt_reduce_add(SIMT_ALL_LANES, entries);
    if (simt_lane() == 0)
        s.sums[simt_warp()] = entries;
}

/* Candidates of a list before that one. Padding, which is behind them, never is. */
template <typename Element>
TOPK_DEVICE uint32_t count_short(const merge_short_shared<Element> &s, uint32_t first, uint32_t length,
                                 const merge_rank<Element> &candidate) {
    uint32_t before = 0;
#pragma unroll 1
    for (uint32_t step = 1u << (31 - simt_clz(length)); step > 0; step /= 2) {
        const uint32_t slot = first + before + step - 1;
        if (before + step <= length &&
            merge_rank<Element>{s.keys[slot], s.indices[slot]}.is_before(candidate))
            before += step;
    }
    return before;
}

/* All threads; ends without a barrier. */
template <typename Element>
TOPK_DEVICE void merge_short_lists(const struct merge_args &a, const merge_short_shared<Element> &s,
                                   int64_t row) {
    const uint32_t length = (uint32_t)a.rows.length_max;
    const int64_t wanted = wanted_of_row(a.rows, row);
    short_items<Element> items;
    bool is_invalid = false;
    load_short(a, row, items);
    hold_short(a, s, items);
#pragma unroll
    for (uint32_t i = 0; i < MERGE_SHORT_ITEMS; i++)
        is_invalid |= items.ranks[i].index < MERGE_NONE;
    is_invalid = simt_block_count(is_invalid) > 0;
    const uint32_t of_lane = simt_lane() < simt_warps() ? (uint32_t)s.sums[simt_lane()] : 0;
    const uint32_t entries = simt_reduce_add(SIMT_ALL_LANES, of_lane);
    const uint32_t results = is_invalid ? 0 : wanted < entries ? (uint32_t)wanted : entries;
#pragma unroll
    for (uint32_t i = 0; i < MERGE_SHORT_ITEMS; i++) {
        uint32_t rank = items.ranks[i].index < 0 ? results : items.places[i];
#pragma unroll 1
        for (uint32_t list = 0; list < (uint32_t)a.lists && rank < results; list++)
            if (list != items.lists[i])
                rank += count_short(s, list * length, length, items.ranks[i]);
        if (rank < results)
            write_merged<Element>(a, row * a.rows.k_max + rank, items.elements[i], items.bits[i],
                                  items.ranks[i].index);
    }
    pad_merged<Element>(a, row, results + simt_thread(), simt_threads(), (uint64_t)a.rows.k_max,
                        is_invalid ? MERGE_NOT_ALLOWED : MERGE_NONE);
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(MERGE_SHORT_THREADS, 1) void merge_short(struct merge_args a) {
    simt_arena arena = simt_shared_arena();
    const merge_short_shared<Element> s = carve_merge_short<Element>(arena, (uint32_t)a.candidates);
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    for (int64_t row = simt_block(); row < a.rows.rows; row += simt_blocks()) {
        if (row != (int64_t)simt_block()) {
            TOPK_REACHED(REACHED_MERGE_NEXT_SHORT);
            simt_block_sync();
        }
        merge_short_lists(a, s, row);
    }
}

#endif
