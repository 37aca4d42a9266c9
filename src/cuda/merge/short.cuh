/* SPDX-License-Identifier: Apache-2.0
 * Short sorted lists: a block holds all candidates of a row in shared memory. What is behind the cut
 * (held.cuh) is no result. For each other candidate and each list a thread searches how many of the list
 * come before; with the place in its own list these make its rank. Where lists are few threads rank their own
 * candidates; else what may be a result is first dealt out to all threads, which takes longer than it saves
 * there: a block of one multiprocessor counts instructions. */
#ifndef TOPK_SRC_CUDA_MERGE_SHORT_CUH
#define TOPK_SRC_CUDA_MERGE_SHORT_CUH

#include "candidates.cuh"

template <typename Element> struct merge_short_shared {
    simt_shared<key_word_t<Element>> keys; /* of each candidate */
    simt_shared<int64_t> indices;          /* likewise; INT64_MAX: none */
    simt_shared<uint32_t> chosen, ranks;   /* candidates that may be results: their numbers, their ranks */
    simt_shared<uint32_t> sums;            /* of warps: entries, and behind them chosen ones */
};

template <typename Element>
TOPK_HOST_DEVICE merge_short_shared<Element> carve_merge_short(simt_arena &arena, uint32_t candidates) {
    merge_short_shared<Element> s = {};
    s.indices = simt_carve<int64_t>(arena, candidates);
    s.keys = simt_carve<key_word_t<Element>>(arena, candidates);
    s.chosen = simt_carve<uint32_t>(arena, candidates);
    s.ranks = simt_carve<uint32_t>(arena, candidates);
    s.sums = simt_carve<uint32_t>(arena, 2 * (MERGE_SHORT_THREADS / SIMT_WARP));
    return s;
}

/* A thread's candidates. */
template <typename Element, uint32_t ITEMS> struct short_items {
    merge_rank<Element> ranks[ITEMS]; /* index: as it was read */
    key_word_t<Element> bits[ITEMS];
    int64_t elements[ITEMS];
    uint32_t places[ITEMS]; /* in their lists */
};

template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void load_short(const struct merge_args &a, int64_t row, short_items<Element, ITEMS> &items) {
    const uint32_t length = (uint32_t)a.rows.length_max;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint32_t number = i * simt_threads() + simt_thread(), list = number / length;
        items.places[i] = number - list * length;
        items.elements[i] = -1;
        if (number < a.candidates && items.places[i] < (uint64_t)length_of_list(a, list, row))
            items.elements[i] = list * a.list_stride + row * a.rows.row_stride + items.places[i];
    }
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        items.ranks[i].index = items.elements[i] < 0 ? MERGE_NONE : candidate_index(a, items.elements[i]);
        items.bits[i] = items.elements[i] < 0 ? 0 : candidate_bits<Element>(a, items.elements[i]);
    }
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        items.ranks[i].key = items.ranks[i].index < 0 ? 0 : key_of<Element>(items.bits[i], a.rows.map);
}

/* Puts a thread's candidates where all threads find them, and notes how many its warp has. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void hold_short(const struct merge_args &a, const merge_short_shared<Element> &s,
                            const short_items<Element, ITEMS> &items) {
    uint32_t entries = 0;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
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

/* The sum of the warps' numbers. All lanes, after a barrier. */
TOPK_DEVICE uint32_t sum_of_warps(simt_shared<uint32_t> sums) {
    return simt_reduce_add(SIMT_ALL_LANES, simt_lane() < simt_warps() ? (uint32_t)sums[simt_lane()] : 0);
}

/* The last of the entries at such a depth that the lists together have `results` before it; behind all if a
 * list is not so long. All lanes. */
template <typename Element>
TOPK_DEVICE merge_rank<Element> cut_of_short(const struct merge_args &a, const merge_short_shared<Element> &s,
                                             uint32_t results) {
    const uint32_t length = (uint32_t)a.rows.length_max, lists = (uint32_t)a.lists;
    const uint32_t depth = (results + lists - 1) / lists;
    merge_rank<Element> mine = {(key_word_t<Element>)~(key_word_t<Element>)0, -1}; /* before all */
    if (lists <= MERGE_SHORT_FEW && depth > 0 && depth <= length) {
#pragma unroll 1
        for (uint32_t slot = depth - 1; slot < lists * length; slot += length) {
            const merge_rank<Element> other = {s.keys[slot], s.indices[slot]};
            if (mine.is_before(other))
                mine = other;
        }
        return mine;
    }
    if (simt_lane() < lists && depth > 0 && depth <= length) {
        const uint32_t slot = simt_lane() * length + depth - 1;
        mine = {s.keys[slot], s.indices[slot]};
    }
    return depth <= length ? last_of_lanes(mine) : merge_rank<Element>{0, INT64_MAX};
}

/* Candidates of a list before `candidate`; `before` have greater keys. Ties ascend by index. The list begins
 * at `first`. */
template <typename Element>
TOPK_DEVICE uint32_t count_ties(const merge_short_shared<Element> &s, uint32_t first, uint32_t length,
                                const merge_rank<Element> &candidate, uint32_t before) {
    uint32_t end = length;
    if (before == length || s.keys[first + before] != candidate.key)
        return before;
#pragma unroll 1
    while (before < end) {
        const uint32_t middle = (before + end) / 2, slot = first + middle;
        if (s.keys[slot] == candidate.key && s.indices[slot] < candidate.index)
            before = middle + 1;
        else
            end = middle;
    }
    return before;
}

/* Candidates of a list, from `first` on, before that one. Padding, which is behind them, never is. */
template <typename Element>
TOPK_DEVICE uint32_t count_short(const merge_short_shared<Element> &s, uint32_t first, uint32_t length,
                                 const merge_rank<Element> &candidate) {
    const uint32_t all = 1u << (31 - simt_clz(length));
    uint32_t before = 0;
#pragma unroll 1
    for (uint32_t step = all; step > 0; step /= 2)
        if (before + step <= length && s.keys[first + before + step - 1] > candidate.key)
            before += step;
    return count_ties<Element>(s, first, length, candidate, before);
}

/* The ranks of a thread's candidates that may be results, each a bit of `which`. They are searched for side
 * by side in one list after the other. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void rank_own_items(const struct merge_args &a, const merge_short_shared<Element> &s,
                                const short_items<Element, ITEMS> &items, uint32_t which,
                                uint32_t (&ranks)[ITEMS]) {
    const uint32_t length = (uint32_t)a.rows.length_max, all = 1u << (31 - simt_clz(length));
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        ranks[i] = items.places[i];
#pragma unroll 1
    for (uint32_t first = 0; which != 0 && first < a.candidates; first += length) {
        uint32_t before[ITEMS] = {}, others = 0;
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            others |= (uint32_t)(i * simt_threads() + simt_thread() - first >= length) << i;
        others &= which;
        if (others == 0)
            continue;
#pragma unroll 1
        for (uint32_t step = all; step > 0; step /= 2) {
#pragma unroll
            for (uint32_t i = 0; i < ITEMS; i++) {
                const uint32_t end = before[i] + step;
                if ((others >> i & 1) != 0 && end <= length && s.keys[first + end - 1] > items.ranks[i].key)
                    before[i] = end;
            }
        }
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            if ((others >> i & 1) != 0)
                ranks[i] += count_ties<Element>(s, first, length, items.ranks[i], before[i]);
    }
}

/* Chooses what may be a result, one behind the other. Returns how many in all; *mine: where the thread's
 * begin. A bit of `which` is one of its candidates. All threads; two barriers. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE uint32_t choose_short(const merge_short_shared<Element> &s,
                                  const short_items<Element, ITEMS> &items, uint32_t which, uint32_t *mine) {
    uint32_t all;
    simt_shared<uint32_t> sums =
        simt_shared_part(s.sums, MERGE_SHORT_THREADS / SIMT_WARP, MERGE_SHORT_THREADS / SIMT_WARP);
    *mine = block_scan(sums, simt_popc(which), &all);
    uint32_t slot = *mine;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        if ((which >> i & 1) != 0) {
            s.chosen[slot] = i * simt_threads() + simt_thread();
            s.ranks[slot++] = items.places[i];
        }
    simt_block_sync();
    return all;
}

/* Adds to the ranks of the chosen ones what other lists have before them. All threads. */
template <typename Element>
TOPK_DEVICE void rank_short(const struct merge_args &a, const merge_short_shared<Element> &s,
                            uint32_t chosen) {
    const uint32_t length = (uint32_t)a.rows.length_max;
#pragma unroll 1
    for (uint32_t pair = simt_thread(); pair < chosen * (uint32_t)a.lists; pair += simt_threads()) {
        const uint32_t list = pair / chosen, slot = pair - list * chosen, number = s.chosen[slot];
        if (number - list * length < length)
            continue; /* its own list */
        const uint32_t before =
            count_short<Element>(s, list * length, length, {s.keys[number], s.indices[number]});
        if (before > 0)
            simt_atomic_add(&s.ranks[slot], before);
    }
}

/* As rank_own_items(), by all threads of the block: each takes some of what may be results. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void rank_dealt_out(const struct merge_args &a, const merge_short_shared<Element> &s,
                                const short_items<Element, ITEMS> &items, uint32_t which,
                                uint32_t (&ranks)[ITEMS]) {
    uint32_t slot;
    const uint32_t chosen = choose_short(s, items, which, &slot);
    rank_short(a, s, chosen);
    simt_block_sync();
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        ranks[i] = (which >> i & 1) != 0 ? (uint32_t)s.ranks[slot++] : 0;
}

/* Of candidates that have been loaded. All threads; ends without a barrier. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void merge_short_lists(const struct merge_args &a, const merge_short_shared<Element> &s,
                                   int64_t row, const short_items<Element, ITEMS> &items) {
    const int64_t wanted = wanted_of_row(a.rows, row);
    bool is_invalid = false;
    uint32_t which = 0;
    hold_short(a, s, items);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        is_invalid |= items.ranks[i].index < MERGE_NONE;
    is_invalid = simt_block_count(is_invalid) > 0;
    const uint32_t entries = sum_of_warps(s.sums);
    const uint32_t results = is_invalid ? 0 : wanted < entries ? (uint32_t)wanted : entries;
    const merge_rank<Element> cut = cut_of_short(a, s, results);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        which |= (uint32_t)(items.ranks[i].index >= 0 && items.places[i] < results &&
                            !cut.is_before(items.ranks[i]))
                 << i;
    uint32_t ranks[ITEMS];
    if (a.lists <= MERGE_SHORT_FEW)
        rank_own_items(a, s, items, which, ranks);
    else
        rank_dealt_out(a, s, items, which, ranks);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        if ((which >> i & 1) != 0 && ranks[i] < results)
            write_merged<Element>(a, row * a.rows.k_max + ranks[i], items.elements[i], items.bits[i],
                                  items.ranks[i].index);
    pad_merged<Element>(a, row, results + simt_thread(), simt_threads(), (uint64_t)a.rows.k_max,
                        is_invalid ? MERGE_NOT_ALLOWED : MERGE_NONE);
}

template <typename Element, uint32_t ITEMS>
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
        short_items<Element, ITEMS> items;
        load_short(a, row, items);
        merge_short_lists(a, s, row, items);
    }
}

#endif
