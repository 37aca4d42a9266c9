/* SPDX-License-Identifier: Apache-2.0
 * A row's sorted lists: where they are, their cut, and searches in them. Each list has a lane of the first
 * warp.
 *
 * Of the lists that have at least n entries, if these are at least k together, the last of the n-th entries
 * is the cut: nothing behind it is a result. */
#ifndef TOPK_SRC_CUDA_MERGE_LISTS_CUH
#define TOPK_SRC_CUDA_MERGE_LISTS_CUH

#include "candidates.cuh"

struct merge_rank_shared {
    simt_shared<int64_t> begins, lengths; /* of each list: its first element, and how many there are */
    simt_shared<uint64_t> cut;            /* its key and index; and how many entries there are, at least */
    simt_shared<uint32_t> sums;           /* of warps */
    /* Of each entry of the queue. */
    simt_shared<uint64_t> keys, indices, elements, ranks;
    simt_shared<uint32_t> lists;
};

TOPK_HOST_DEVICE struct merge_rank_shared carve_merge_rank(simt_arena &arena) {
    struct merge_rank_shared s = {};
    s.begins = simt_carve<int64_t>(arena, MERGE_LISTS);
    s.lengths = simt_carve<int64_t>(arena, MERGE_LISTS);
    s.cut = simt_carve<uint64_t>(arena, 3);
    s.sums = simt_carve<uint32_t>(arena, MERGE_THREADS / SIMT_WARP);
    return s;
}

TOPK_HOST_DEVICE void carve_queue(simt_arena &arena, struct merge_rank_shared &s) {
    s.keys = simt_carve<uint64_t>(arena, MERGE_QUEUE);
    s.indices = simt_carve<uint64_t>(arena, MERGE_QUEUE);
    s.elements = simt_carve<uint64_t>(arena, MERGE_QUEUE);
    s.ranks = simt_carve<uint64_t>(arena, MERGE_QUEUE);
    s.lists = simt_carve<uint32_t>(arena, MERGE_QUEUE);
}

/* For blocks that hold nothing but the queue. */
TOPK_HOST_DEVICE struct merge_rank_shared carve_merge_queue(simt_arena &arena) {
    struct merge_rank_shared s = carve_merge_rank(arena);
    carve_queue(arena, s);
    return s;
}

/* The lists of a row, or some of its runs; and the block's part of them. */
template <typename Element> struct rank_task {
    typedef merge_rank<Element> ranked;

    const struct merge_args &a;
    const struct merge_rank_shared &s;
    const void *values, *indices;
    bool has_runs;
    int64_t row;
    uint64_t first;    /* slot of the row that the first result goes to */
    uint64_t capacity; /* of a list */
    uint64_t wanted;   /* results */
    uint32_t lists, part;

    TOPK_MEMBER key_word_t<Element> bits(int64_t element) const {
        return ((const Element *)values)[element];
    }
    TOPK_MEMBER int64_t index(int64_t element) const {
        return read_extent(indices, element, a.rows.wide_indices);
    }
    TOPK_MEMBER ranked rank_of(int64_t element) const {
        return ranked{has_runs && a.by_position ? 0 : key_of<Element>(bits(element), a.rows.map),
                      index(element)};
    }
    /* Whether it is an entry, and before another one. */
    TOPK_MEMBER bool precedes(int64_t element, const ranked &other) const {
        const ranked here = rank_of(element);
        return here.index >= 0 && here.is_before(other);
    }
    /* Entries of a list before that one, up to `most`. Three at a time are asked, side by side. */
    TOPK_MEMBER uint64_t count_before(uint32_t list, const ranked &other, uint64_t most) const {
        const int64_t begin = s.begins[list];
        uint64_t low = 0, high = most;
        while (high - low > 3) {
            const uint64_t quarter = (high - low) / 4;
            const bool is_first = precedes(begin + (int64_t)(low + quarter), other);
            const bool is_second = precedes(begin + (int64_t)(low + 2 * quarter), other);
            const bool is_third = precedes(begin + (int64_t)(low + 3 * quarter), other);
            const uint64_t from = low;
            low = is_third    ? from + 3 * quarter + 1
                  : is_second ? from + 2 * quarter + 1
                  : is_first  ? from + quarter + 1
                              : from;
            high = is_third    ? high
                   : is_second ? from + 3 * quarter
                   : is_first  ? from + 2 * quarter
                               : from + quarter;
        }
        uint64_t before = low;
#pragma unroll
        for (uint32_t i = 0; i < 3; i++)
            before += low + i < high && precedes(begin + (int64_t)(low + i), other);
        return before;
    }
};

/* Notes begin and length of each list. The first warp. Returns the length of the lane's list. */
template <typename Element> TOPK_DEVICE uint64_t note_lists(const rank_task<Element> &t) {
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
    t.s.begins[list] = begin;
    t.s.lengths[list] = length;
    return (uint64_t)length;
}

/* The last of the lanes' entries. All lanes. */
template <typename Element> TOPK_DEVICE merge_rank<Element> last_of_lanes(merge_rank<Element> mine) {
#pragma unroll
    for (uint32_t lanes = SIMT_WARP / 2; lanes != 0; lanes /= 2) {
        const merge_rank<Element> other = {
            simt_shuffle_xor(SIMT_ALL_LANES, mine.key, lanes),
            (int64_t)simt_shuffle_xor(SIMT_ALL_LANES, (uint64_t)mine.index, lanes)};
        if (mine.is_before(other))
            mine = other;
    }
    return mine;
}

/* Finds the cut. Returns whether there is one. The first warp. */
template <typename Element> TOPK_DEVICE bool find_cut(const rank_task<Element> &t, uint64_t length) {
    const merge_rank<Element> before_all = {(key_word_t<Element>)~(key_word_t<Element>)0, -1};
    uint32_t lists = t.lists;
    while (lists > 0 && t.wanted > 0) {
        const uint64_t depth = (t.wanted + lists - 1) / lists;
        merge_rank<Element> mine = before_all;
        bool has_entry = length >= depth;
        if (has_entry) {
            mine = t.rank_of((int64_t)t.s.begins[simt_lane()] + (int64_t)depth - 1);
            has_entry = mine.index >= 0;
        }
        const uint32_t deep = simt_popc(simt_ballot(SIMT_ALL_LANES, has_entry));
        if (deep == lists) {
            const merge_rank<Element> cut = last_of_lanes(has_entry ? mine : before_all);
            if (simt_lane() == 0) {
                t.s.cut[0] = cut.key;
                t.s.cut[1] = (uint64_t)cut.index;
                t.s.cut[2] = t.wanted;
            }
            return true;
        }
        lists = deep;
    }
    return false;
}

/* Counts a list's entries, behind which there is only padding. */
template <typename Element> TOPK_DEVICE uint64_t count_entries(const rank_task<Element> &t, uint64_t length) {
    const int64_t begin = t.s.begins[simt_lane()];
    uint64_t low = 0, high = length;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (t.index(begin + (int64_t)middle) >= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether an index of a part of a row's candidates is not allowed. */
TOPK_DEVICE bool has_invalid(const struct merge_args &a, int64_t row, uint32_t part, uint32_t parts) {
    const uint64_t length = (uint64_t)a.rows.length_max,
                   pieces_of_list = (length + SIMT_WARP - 1) / SIMT_WARP;
    const uint64_t pieces = (uint64_t)a.lists * pieces_of_list;
    bool is_invalid = false;
#pragma unroll 4
    for (uint64_t piece = simt_warp() * (uint64_t)parts + part; piece < pieces;
         piece += (uint64_t)simt_warps() * parts) {
        const int64_t list = (int64_t)(pieces <= UINT32_MAX ? (uint32_t)piece / (uint32_t)pieces_of_list
                                                            : piece / pieces_of_list);
        const int64_t place = (int64_t)(piece - (uint64_t)list * pieces_of_list) * SIMT_WARP + simt_lane();
        if (place < length_of_list(a, list, row))
            is_invalid |=
                candidate_index(a, list * a.list_stride + row * a.rows.row_stride + place) < MERGE_NONE;
    }
    return is_invalid;
}

/* Whether the row is; where blocks share rows, they have looked before. All threads; a barrier. */
template <typename Element> TOPK_DEVICE bool is_row_invalid(const rank_task<Element> &t) {
    const struct merge_args &a = t.a;
    bool is_invalid = false;
    if (a.checks == 0)
        is_invalid = has_invalid(a, t.row, 0, 1);
    for (uint32_t check = simt_thread(); check < a.checks; check += simt_threads())
        is_invalid |= a.invalid[t.row * a.checks + check] != 0;
    return simt_block_count(is_invalid) > 0;
}

/* All that the block has to know before. All threads; ends with a barrier. */
template <typename Element> TOPK_DEVICE void open_lists(const rank_task<Element> &t) {
    if (simt_warp() == 0) {
        const uint64_t length = note_lists(t);
        simt_warp_sync(SIMT_ALL_LANES);
        const bool has_cut = !t.has_runs && find_cut(t, length);
        const uint64_t entries = t.has_runs || has_cut ? length : count_entries(t, length);
        const uint64_t all = simt_reduce_add(SIMT_ALL_LANES, entries);
        if (simt_lane() == 0 && !has_cut) {
            TOPK_REACHED(REACHED_MERGE_NO_CUT);
            t.s.cut[0] = 0; /* behind all */
            t.s.cut[1] = INT64_MAX;
            t.s.cut[2] = all;
        }
    }
    simt_block_sync();
}

#endif
