/* SPDX-License-Identifier: Apache-2.0
 * Merging sorted lists: a candidate's rank is its place in its own list, and what searches in the other lists
 * find before it. Blocks share the lists of a row. What may be a result gathers in a queue in shared memory,
 * for threads share the searches: an entry and a list for each thread. */
#ifndef TOPK_SRC_CUDA_MERGE_RANK_CUH
#define TOPK_SRC_CUDA_MERGE_RANK_CUH

#include "lists.cuh"

/* A thread's candidates. */
template <typename Element> struct rank_items {
    merge_rank<Element> ranks[MERGE_ITEMS];
    int64_t elements[MERGE_ITEMS];
    uint64_t places[MERGE_ITEMS]; /* in their lists */
    uint32_t lists[MERGE_ITEMS];
    uint32_t chosen; /* a bit for each that may be a result */
};

/* Loads the candidates of warps' pieces of 32: neighbouring ones go to different blocks, for results lie
 * together. */
template <typename Element>
TOPK_DEVICE void load_items(const rank_task<Element> &t, uint64_t round, rank_items<Element> &items) {
    const uint64_t pieces_of_list = (t.capacity + SIMT_WARP - 1) / SIMT_WARP,
                   pieces = t.lists * pieces_of_list;
    const merge_rank<Element> cut = {(key_word_t<Element>)t.s.cut[0], (int64_t)(uint64_t)t.s.cut[1]};
    items.chosen = 0;
#pragma unroll
    for (uint32_t i = 0; i < MERGE_ITEMS; i++) {
        const uint64_t piece = ((round * MERGE_ITEMS + i) * simt_warps() + simt_warp()) * t.a.parts + t.part;
        items.lists[i] = 0;
        items.elements[i] = -1;
        if (piece < pieces) {
            const uint32_t list = (uint32_t)(pieces <= UINT32_MAX ? (uint32_t)piece / (uint32_t)pieces_of_list
                                                                  : piece / pieces_of_list);
            items.lists[i] = list;
            items.places[i] = (piece - list * pieces_of_list) * SIMT_WARP + simt_lane();
            if (items.places[i] < (uint64_t)(int64_t)t.s.lengths[list])
                items.elements[i] = (int64_t)t.s.begins[list] + (int64_t)items.places[i];
        }
        items.ranks[i] = {0, MERGE_NONE};
        if (items.elements[i] >= 0)
            items.ranks[i] = t.rank_of(items.elements[i]);
    }
#pragma unroll
    for (uint32_t i = 0; i < MERGE_ITEMS; i++) {
        const int64_t index = items.ranks[i].index;
        const bool is_chosen = index >= 0 && items.places[i] < t.wanted && !cut.is_before(items.ranks[i]);
        items.chosen |= (uint32_t)is_chosen << i;
    }
}

/* Puts those chosen items into the queue whose numbers, from `before` on, are in it. */
template <typename Element>
TOPK_DEVICE void queue_items(const rank_task<Element> &t, const rank_items<Element> &items, uint32_t before,
                             uint32_t first) {
    uint32_t slot = before - first; /* wraps around for what was in the queue before */
#pragma unroll
    for (uint32_t i = 0; i < MERGE_ITEMS; i++) {
        if ((items.chosen >> i & 1) == 0)
            continue;
        if (slot < MERGE_QUEUE) {
            t.s.keys[slot] = items.ranks[i].key;
            t.s.indices[slot] = (uint64_t)items.ranks[i].index;
            t.s.elements[slot] = (uint64_t)items.elements[i];
            t.s.ranks[slot] = items.places[i];
            t.s.lists[slot] = items.lists[i];
        }
        slot++;
    }
}

template <typename Element>
TOPK_DEVICE merge_rank<Element> queued(const rank_task<Element> &t, uint32_t slot) {
    return merge_rank<Element>{(key_word_t<Element>)t.s.keys[slot], (int64_t)(uint64_t)t.s.indices[slot]};
}

/* Finds the ranks of what is queued, and writes what is a result. All threads, after a barrier; ends with
 * one. */
template <typename Element> TOPK_DEVICE void rank_queue(const rank_task<Element> &t, uint32_t count) {
#pragma unroll 1
    for (uint32_t pair = simt_thread(); pair < count * t.lists; pair += simt_threads()) {
        const uint32_t slot = pair / t.lists, list = pair % t.lists;
        if (list == t.s.lists[slot])
            continue;
        const uint64_t length = (uint64_t)(int64_t)t.s.lengths[list],
                       most = length < t.wanted ? length : t.wanted;
        const uint64_t before = t.count_before(list, queued(t, slot), most);
        if (before > 0)
            simt_atomic_add(&t.s.ranks[slot], before);
    }
    simt_block_sync();
#pragma unroll 1
    for (uint32_t slot = simt_thread(); slot < count; slot += simt_threads()) {
        const uint64_t rank = t.s.ranks[slot];
        const int64_t element = (int64_t)(uint64_t)t.s.elements[slot];
        if (rank < t.wanted)
            put_sorted<Element>(t.a, t.row * t.a.rows.k_max + (int64_t)(t.first + rank),
                                t.has_runs ? t.a.from.at[element] : element, t.bits(element),
                                (int64_t)(uint64_t)t.s.indices[slot]);
    }
    simt_block_sync();
}

/* Ranks the block's part of all candidates. All threads. */
template <typename Element> TOPK_DEVICE void rank_lists(const rank_task<Element> &t) {
    const uint64_t of_round = (uint64_t)MERGE_ITEMS * simt_warps() * t.a.parts;
    const uint64_t pieces = t.lists * ((t.capacity + SIMT_WARP - 1) / SIMT_WARP);
    rank_items<Element> items;
#pragma unroll 1
    for (uint64_t round = 0; round * of_round < pieces; round++) {
        uint32_t total;
        load_items(t, round, items);
        const uint32_t before = block_scan(t.s.sums, simt_popc(items.chosen), &total);
#pragma unroll 1
        for (uint32_t first = 0; first < total; first += MERGE_QUEUE) {
            if (first > 0)
                TOPK_REACHED(REACHED_MERGE_FULL_QUEUE);
            queue_items(t, items, before, first);
            simt_block_sync();
            rank_queue(t, total - first < MERGE_QUEUE ? total - first : (uint32_t)MERGE_QUEUE);
        }
        if (total == 0)
            simt_block_sync();
    }
}

/* Pads what a row of lists has no entries for, in the block's part. */
template <typename Element> TOPK_DEVICE void pad_row_of_lists(const rank_task<Element> &t) {
    const uint64_t entries = t.s.cut[2], results = entries < t.wanted ? entries : t.wanted;
    pad_merged<Element>(t.a, t.row, results + (uint64_t)t.part * simt_threads() + simt_thread(),
                        (uint64_t)t.a.parts * simt_threads(), (uint64_t)t.a.rows.k_max, MERGE_NONE);
}

template <typename Element>
TOPK_DEVICE rank_task<Element> rank_task_of(const struct merge_args &a, const struct merge_rank_shared &s,
                                            uint64_t unit, uint64_t groups) {
    const bool has_runs = a.from.values != nullptr;
    rank_task<Element> t = {a,
                            s,
                            has_runs ? a.from.values : a.rows.values,
                            has_runs ? a.from.indices : a.rows.payload,
                            has_runs,
                            0,
                            0,
                            0,
                            0,
                            0,
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
        t.wanted = ~(uint64_t)0;
    } else {
        t.first = 0;
        t.capacity = (uint64_t)a.rows.length_max;
        t.lists = (uint32_t)a.lists;
        t.wanted = (uint64_t)wanted_of_row(a.rows, t.row);
    }
    return t;
}

/* Groups of runs of a row that become one. */
TOPK_DEVICE uint64_t groups_of(const struct merge_args &a) {
    const uint64_t of_group = (uint64_t)a.run * MERGE_RUNS;
    return a.from.values != nullptr ? ((uint64_t)a.rows.k_max + of_group - 1) / of_group : 1;
}

/* Calls merge(task) for the lists of each row, or each group of runs, that a block has a part of. A row that
 * is invalid is padded. All threads. */
template <typename Element, typename Merge>
TOPK_DEVICE void for_lists(const struct merge_args &a, const struct merge_rank_shared &s,
                           const Merge &merge) {
    const uint64_t groups = groups_of(a);
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    if (a.has_successor)
        simt_allow_successor();
    for (uint64_t unit = simt_block(); unit < (uint64_t)a.rows.rows * groups * a.parts;
         unit += simt_blocks()) {
        const rank_task<Element> t = rank_task_of<Element>(a, s, unit, groups);
        if (unit != simt_block()) {
            TOPK_REACHED(REACHED_MERGE_NEXT_LISTS);
            simt_block_sync();
        }
        if (!t.has_runs && is_row_invalid(t)) {
            pad_merged<Element>(a, t.row, (uint64_t)t.part * simt_threads() + simt_thread(),
                                (uint64_t)a.parts * simt_threads(), (uint64_t)a.rows.k_max,
                                MERGE_NOT_ALLOWED);
            continue;
        }
        open_lists(t);
        merge(t);
        if (!t.has_runs)
            pad_row_of_lists(t);
    }
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(MERGE_THREADS, 1) void merge_rank_lists(struct merge_args a) {
    simt_arena arena = simt_shared_arena();
    const struct merge_rank_shared s = carve_merge_queue(arena);
    for_lists<Element>(a, s, [](const rank_task<Element> &t) TOPK_LAMBDA { rank_lists(t); });
}

/* Looks for indices that are not allowed, for blocks that share rows. */
template <typename Element> TOPK_KERNEL TOPK_BOUNDS(MERGE_THREADS, 1) void merge_check(struct merge_args a) {
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    simt_allow_successor();
    for (uint64_t unit = simt_block(); unit < (uint64_t)a.rows.rows * a.checks; unit += simt_blocks()) {
        const bool is_invalid =
            has_invalid(a, (int64_t)(unit / a.checks), (uint32_t)(unit % a.checks), a.checks);
        const uint32_t count = simt_block_count(is_invalid);
        if (simt_thread() == 0)
            a.invalid[unit] = count;
    }
}

#endif
