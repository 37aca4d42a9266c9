/* SPDX-License-Identifier: Apache-2.0
 * A row's sorted lists, or runs that become one: where they are, how many results they have, and whether the
 * row is invalid. Each list has a lane of a warp. */
#ifndef TOPK_SRC_CUDA_MERGE_LISTS_CUH
#define TOPK_SRC_CUDA_MERGE_LISTS_CUH

#include "candidates.cuh"

/* The lists of a row, or some of its runs; and the block's part of their results. */
template <typename Element> struct lists_task {
    const struct merge_args &a;
    simt_shared<int64_t> begins, lengths; /* of each list: its first element, and how many there are */
    const void *values, *indices;
    bool has_runs;
    int64_t row;
    uint64_t first;    /* slot of the row that the first result goes to */
    uint64_t capacity; /* of a list */
    uint32_t lists, part;

    TOPK_MEMBER key_word_t<Element> bits(int64_t element) const {
        return ((const Element *)values)[element];
    }
    TOPK_MEMBER int64_t index(int64_t element) const {
        return read_extent(indices, element, a.rows.wide_indices);
    }
    /* By position the key is what tells most indices apart. */
    TOPK_MEMBER merge_place<Element> place_of(key_word_t<Element> bits, int64_t index) const {
        const bool by_position = has_runs && a.by_position;
        const key_word_t<Element> key = !by_position ? key_of<Element>(bits, a.rows.map)
                                        : index < UINT32_MAX
                                            ? (key_word_t<Element>)(UINT32_MAX - (uint32_t)index)
                                            : 0;
        return {index >= 0 ? key : (key_word_t<Element>)0, index >= 0 ? (uint64_t)index : ~(uint64_t)0};
    }
    TOPK_MEMBER merge_place<Element> place_at(uint32_t list, uint64_t position) const {
        const int64_t element = begins[list] + (int64_t)position;
        return place_of(bits(element), index(element));
    }
};

/* Groups of runs of a row that become one; lists are one group. */
TOPK_DEVICE uint64_t groups_of(const struct merge_args &a) {
    const uint64_t of_group = (uint64_t)a.run * MERGE_RUNS;
    return a.from.values != nullptr ? ((uint64_t)a.rows.k_max + of_group - 1) / of_group : 1;
}

template <typename Element>
TOPK_DEVICE lists_task<Element> lists_task_of(const struct merge_args &a, simt_shared<int64_t> begins,
                                              simt_shared<int64_t> lengths, uint64_t unit, uint64_t groups) {
    const bool has_runs = a.from.values != nullptr;
    lists_task<Element> t = {a,
                             begins,
                             lengths,
                             has_runs ? a.from.values : a.rows.values,
                             has_runs ? a.from.indices : a.rows.payload,
                             has_runs,
                             0,
                             0,
                             (uint64_t)a.rows.length_max,
                             (uint32_t)a.lists,
                             0};
    const uint64_t number = unit / a.parts;
    t.part = (uint32_t)(unit % a.parts);
    t.row = (int64_t)(number / groups);
    if (has_runs) {
        const uint64_t runs = ((uint64_t)a.rows.k_max + (uint64_t)a.run - 1) / (uint64_t)a.run;
        const uint64_t first_run = number % groups * MERGE_RUNS, rest = runs - first_run;
        t.first = first_run * (uint64_t)a.run;
        t.capacity = (uint64_t)a.run;
        t.lists = rest < MERGE_RUNS ? (uint32_t)rest : (uint32_t)MERGE_RUNS;
    }
    return t;
}

/* Notes begin and length of each list. One warp. Returns how many results there are at most. */
template <typename Element> TOPK_DEVICE uint64_t note_lists(const lists_task<Element> &t) {
    const struct merge_args &a = t.a;
    const uint32_t list = simt_lane();
    int64_t begin = 0, length = 0;
    if (list < t.lists && t.has_runs) {
        const int64_t slot = (int64_t)(t.first + list * t.capacity);
        begin = t.row * a.rows.k_max + slot;
        length = clamp_extent(a.counts[t.row] - slot, (int64_t)t.capacity);
    } else if (list < t.lists) {
        begin = list * a.list_stride + t.row * a.rows.row_stride;
        length = length_of_list(a, list, t.row);
    }
    t.begins[list] = begin;
    t.lengths[list] = length;
    const uint64_t all = simt_reduce_add(SIMT_ALL_LANES, (uint64_t)length);
    const uint64_t wanted = t.has_runs ? all : (uint64_t)wanted_of_row(a.rows, t.row);
    return wanted < all ? wanted : all;
}

/* Whether one of a list's indices is not allowed: of the entries from `first` on, 32 of each `step`. */
template <typename Index>
TOPK_DEVICE bool has_invalid_index(const Index *indices, int64_t length, int64_t first, int64_t step) {
    bool is_invalid = false;
#pragma unroll 1
    for (int64_t place = first + simt_lane(); place < length; place += MERGE_LOOKS * step) {
        Index seen[MERGE_LOOKS];
#pragma unroll
        for (uint32_t i = 0; i < MERGE_LOOKS; i++)
            seen[i] = place + i * step < length ? indices[place + i * step] : 0;
#pragma unroll
        for (uint32_t i = 0; i < MERGE_LOOKS; i++)
            is_invalid |= seen[i] < (Index)MERGE_NONE;
    }
    return is_invalid;
}

/* Whether a part of a row's candidates has an index that is not allowed. All parts together have `warps`
 * warps. Each looks at a part of a list, or at some lists: this one is number `warp`. */
TOPK_DEVICE bool has_invalid(const struct merge_args &a, int64_t row, uint32_t warp, uint32_t warps) {
    const uint32_t lists = (uint32_t)a.lists, parts = warps > lists ? warps / lists : 1;
    bool is_invalid = false;
#pragma unroll 1
    for (uint32_t unit = warp; unit < lists * parts; unit += warps) {
        const uint32_t list = unit / parts;
        const int64_t begin = list * a.list_stride + row * a.rows.row_stride,
                      length = length_of_list(a, list, row), first = (int64_t)(unit % parts) * SIMT_WARP,
                      step = (int64_t)parts * SIMT_WARP;
        is_invalid |= a.rows.wide_indices
                          ? has_invalid_index((const int64_t *)a.rows.payload + begin, length, first, step)
                          : has_invalid_index((const int32_t *)a.rows.payload + begin, length, first, step);
    }
    return is_invalid;
}

/* Looks for indices that are not allowed, for blocks that share rows without being a cluster. */
template <typename Element> TOPK_KERNEL TOPK_BOUNDS(MERGE_THREADS, 1) void merge_check(struct merge_args a) {
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    simt_allow_successor();
    for (uint64_t unit = simt_block(); unit < (uint64_t)a.rows.rows * a.checks; unit += simt_blocks()) {
        const uint32_t part = (uint32_t)(unit % a.checks);
        const bool is_invalid = has_invalid(a, (int64_t)(unit / a.checks), simt_warp() * a.checks + part,
                                            simt_warps() * a.checks);
        const uint32_t count = simt_block_count(is_invalid);
        if (simt_thread() == 0)
            a.invalid[unit] = count;
    }
}

#endif
