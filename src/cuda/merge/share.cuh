/* SPDX-License-Identifier: Apache-2.0
 * Merging sorted lists, or runs. Blocks share the results of a row: each has some that follow one another
 * (guess.cuh, splits.cuh). A block loads its results, list after list, into shared memory. The rank of a
 * result among them is its place in its own list, and what searches in the other lists find before it.
 *
 * A row with an index that is not allowed has no results. The blocks that share a row are a cluster: each
 * looks at a part of the indices and tells the others. Where there is no cluster, a launch before has looked.
 */
#ifndef TOPK_SRC_CUDA_MERGE_SHARE_CUH
#define TOPK_SRC_CUDA_MERGE_SHARE_CUH

#include "../../reached.h"

#include "guess.cuh"

/* Results that a thread works on side by side. A launch finds the cache of instructions cold, so loops are
 * short. */
enum { SHARE_SIDE = 2, SHARE_LIST_SHIFT = 16 };

static_assert(MERGE_SHARE <= 1 << SHARE_LIST_SHIFT, "a result's number is below its list in a word");

/* Results that a block has room for. */
TOPK_HOST_DEVICE uint32_t share_room(uint32_t threads) {
    return MERGE_ITEMS * threads;
}

template <typename Element> struct merge_lists_shared {
    /* Places of results lie in two halves that take turns; before the results are loaded, samples do. */
    splits_shared<Element> splits;
    simt_shared<int64_t> begins, lengths;
    simt_shared<uint64_t> results;         /* of the row, at most */
    simt_shared<uint64_t> from;            /* of each list, the element that the block's results begin with */
    simt_shared<key_word_t<Element>> bits; /* of each result, as it was loaded */
    simt_shared<uint32_t> sources;         /* of each place: where it was loaded, and its list */
    simt_shared<uint32_t> firsts;          /* of each list, where its results lie; and where all end */
    simt_shared<uint32_t> invalid;         /* of each block of the cluster, in two halves that take turns */
};

template <typename Element>
TOPK_HOST_DEVICE merge_lists_shared<Element> carve_merge_lists(simt_arena &arena, uint32_t threads) {
    const uint32_t samples = SPLIT_ENDS * MERGE_SAMPLES, room = share_room(threads);
    const uint32_t places = samples > 2 * room ? samples : 2 * room;
    merge_lists_shared<Element> s = {};
    s.splits.bounds = simt_carve<uint64_t>(arena, 4 * SPLIT_ENDS * MERGE_LISTS);
    s.splits.indices = simt_carve<uint64_t>(arena, places);
    s.begins = simt_carve<int64_t>(arena, MERGE_LISTS);
    s.lengths = simt_carve<int64_t>(arena, MERGE_LISTS);
    s.results = simt_carve<uint64_t>(arena, 1);
    s.from = simt_carve<uint64_t>(arena, MERGE_LISTS);
    s.splits.keys = simt_carve<key_word_t<Element>>(arena, places);
    s.bits = simt_carve<key_word_t<Element>>(arena, room);
    s.sources = simt_carve<uint32_t>(arena, 2 * room);
    s.firsts = simt_carve<uint32_t>(arena, MERGE_LISTS + 1);
    s.invalid = simt_carve<uint32_t>(arena, 2 * MERGE_CLUSTER);
    return s;
}

/* Notes where the block's results begin in each list, and where they will lie. The first warp. */
template <typename Element>
TOPK_DEVICE void note_share(const lists_task<Element> &t, const merge_lists_shared<Element> &s,
                            uint32_t turn) {
    const uint64_t low = s.splits.bounds[split_slot(turn, 0, SPLIT_LOW, simt_lane())],
                   high = s.splits.bounds[split_slot(turn, 1, SPLIT_LOW, simt_lane())];
    const uint32_t room = share_room(simt_threads()); /* of lists that are not in order they may be more */
    const uint64_t count = simt_lane() < t.lists && high > low ? high - low : 0;
    const uint32_t of_list = count < room ? (uint32_t)count : room;
    uint32_t all;
    const uint32_t first = warp_scan(of_list, &all);
    s.from[simt_lane()] = (uint64_t)((int64_t)t.begins[simt_lane()] + (int64_t)low);
    s.firsts[simt_lane()] = first < room ? first : room;
    if (simt_lane() == 0)
        s.firsts[MERGE_LISTS] = all < room ? all : room;
}

/* Where the places of a round lie. */
TOPK_DEVICE uint32_t half_of_round(uint32_t round) {
    return round % 2 * share_room(simt_threads());
}

template <typename Element>
TOPK_DEVICE void put_place(const merge_lists_shared<Element> &s, uint32_t slot,
                           const merge_place<Element> &place, uint32_t source) {
    s.splits.keys[slot] = place.key;
    s.splits.indices[slot] = place.index;
    s.sources[slot] = source;
}

/* Loads the block's results, list after list. Returns whether one of the thread's is none: then the row is
 * invalid, or its lists are not in order. All threads. */
template <typename Element>
TOPK_DEVICE bool load_share(const lists_task<Element> &t, const merge_lists_shared<Element> &s) {
    const uint32_t all = s.firsts[MERGE_LISTS];
    bool is_none = false;
#pragma unroll 1
    for (uint32_t first = simt_thread(); first < all; first += SHARE_SIDE * simt_threads()) {
        uint32_t lists[SHARE_SIDE];
        key_word_t<Element> bits[SHARE_SIDE];
        int64_t indices[SHARE_SIDE];
#pragma unroll
        for (uint32_t i = 0; i < SHARE_SIDE; i++) {
            const uint32_t number = first + i * simt_threads();
            uint32_t list = 0; /* the last one that does not begin behind it */
#pragma unroll
            for (uint32_t step = MERGE_LISTS / 2; step > 0; step /= 2)
                list += s.firsts[list + step] <= number ? step : 0;
            lists[i] = list;
            if (number < all) {
                const int64_t element = (int64_t)(uint64_t)s.from[list] + (number - s.firsts[list]);
                bits[i] = t.bits(element);
                indices[i] = t.index(element);
            }
        }
#pragma unroll
        for (uint32_t i = 0; i < SHARE_SIDE; i++) {
            const uint32_t number = first + i * simt_threads();
            if (number < all) {
                s.bits[number] = bits[i];
                put_place(s, number, t.place_of(bits[i], indices[i]), lists[i] << SHARE_LIST_SHIFT | number);
                /* What no result is put over, if lists are not in order, is read all the same. */
                put_place(s, half_of_round(1) + number, {0, 0}, 0);
                is_none |= indices[i] < 0;
            }
        }
    }
    return is_none;
}

/* Merges each group of lists with the one beside it, into the other half: to a result's place in its group is
 * added what a search finds before it beside. All threads, between barriers. */
template <typename Element>
TOPK_DEVICE void merge_groups(const merge_lists_shared<Element> &s, uint32_t round) {
    const uint32_t all = s.firsts[MERGE_LISTS], half = half_of_round(round);
#pragma unroll 1
    for (uint32_t first = simt_thread(); first < all; first += SHARE_SIDE * simt_threads()) {
        merge_place<Element> places[SHARE_SIDE];
        uint32_t sources[SHARE_SIDE], firsts[SHARE_SIDE], lengths[SHARE_SIDE], before[SHARE_SIDE] = {},
                                                                               longest = 0;
#pragma unroll
        for (uint32_t i = 0; i < SHARE_SIDE; i++) {
            const uint32_t slot = first + i * simt_threads() < all ? first + i * simt_threads() : first;
            places[i] = {s.splits.keys[half + slot], s.splits.indices[half + slot]};
            sources[i] = s.sources[half + slot];
            const uint32_t beside = sources[i] >> SHARE_LIST_SHIFT >> round ^ 1,
                           begin = s.firsts[beside << round];
            firsts[i] = half + begin;
            lengths[i] = s.firsts[(beside + 1) << round] - begin;
            longest |= lengths[i];
        }
#pragma unroll 1
        for (uint32_t step = longest == 0 ? 0 : 1u << (31 - simt_clz(longest)); step > 0; step /= 2) {
#pragma unroll
            for (uint32_t i = 0; i < SHARE_SIDE; i++) {
                const uint32_t end = before[i] + step;
                if (end <= lengths[i] && s.splits.keys[firsts[i] + end - 1] > places[i].key)
                    before[i] = end;
            }
        }
#pragma unroll
        for (uint32_t i = 0; i < SHARE_SIDE; i++) {
            const uint32_t slot = first + i * simt_threads(), group = sources[i] >> SHARE_LIST_SHIFT >> round;
            if (before[i] < lengths[i] && s.splits.keys[firsts[i] + before[i]] == places[i].key)
                before[i] = samples_before(s.splits, firsts[i], before[i], lengths[i], places[i]);
            const uint32_t to =
                slot - s.firsts[group << round] + before[i] + s.firsts[group >> 1 << (round + 1)];
            if (slot < all && to < all) /* of lists that are not in order it may be anywhere */
                put_place(s, half_of_round(round + 1) + to, places[i], sources[i]);
        }
    }
}

/* Puts the block's results in order. All threads, after a barrier; ends with one. Returns their half. */
template <typename Element>
TOPK_DEVICE uint32_t merge_share_of_lists(const lists_task<Element> &t,
                                          const merge_lists_shared<Element> &s) {
    uint32_t round = 0;
#pragma unroll 1
    for (; 1u << round < t.lists; round++) {
        merge_groups(s, round);
        simt_block_sync();
    }
    return half_of_round(round);
}

/* Writes the results from rank `low` up to `high` of the row, from a half; and pads the row, in the block's
 * part. Of an invalid row there are none. All threads. */
template <typename Element>
TOPK_DEVICE void write_share(const lists_task<Element> &t, const merge_lists_shared<Element> &s,
                             uint32_t half, uint64_t low, uint64_t high, bool is_invalid) {
    const uint32_t all = s.firsts[MERGE_LISTS];
    uint64_t slot = low + simt_thread(), step = simt_threads(), end = is_invalid ? 0 : high;
#pragma unroll 1
    for (bool is_behind = false;; is_behind = true) {
#pragma unroll 1
        for (; slot < end; slot += step) {
            int64_t element = -1, index = is_invalid ? MERGE_NOT_ALLOWED : MERGE_NONE;
            key_word_t<Element> bits = (key_word_t<Element>)t.a.rows.padding;
            if (!is_behind && slot - low < all) {
                const uint32_t place = half + (uint32_t)(slot - low), source = s.sources[place],
                               number = source & ((1u << SHARE_LIST_SHIFT) - 1),
                               list = source >> SHARE_LIST_SHIFT;
                index = (int64_t)(uint64_t)s.splits.indices[place];
                bits = s.bits[number];
                element = (int64_t)(uint64_t)s.from[list] + (number - s.firsts[list]);
                element = t.has_runs ? t.a.from.at[element] : element;
            }
            put_sorted<Element>(t.a, t.row * t.a.rows.k_max + (int64_t)(t.first + slot), element, bits,
                                index);
        }
        if (is_behind || t.has_runs)
            return;
        slot = (is_invalid ? 0 : (uint64_t)s.results[0]) + (uint64_t)t.part * simt_threads() + simt_thread();
        step = (uint64_t)t.a.parts * simt_threads();
        end = (uint64_t)t.a.rows.k_max;
    }
}

/* Tells the cluster whether the block has found an index that is not allowed. All threads. */
template <typename Element>
TOPK_DEVICE void tell_cluster(const merge_lists_shared<Element> &s, uint32_t half, uint32_t is_invalid) {
    if (simt_thread() < simt_cluster_size())
        simt_remote_store(simt_shared_of_rank(s.invalid, simt_thread()),
                          half * MERGE_CLUSTER + simt_cluster_rank(), is_invalid);
    simt_warp() == 0 ? simt_cluster_arrive() : simt_cluster_arrive_relaxed();
}

/* What the cluster has told. All threads. */
template <typename Element>
TOPK_DEVICE bool hear_cluster(const merge_lists_shared<Element> &s, uint32_t half) {
    simt_cluster_wait();
    return simt_any(SIMT_ALL_LANES,
                    simt_lane() < simt_cluster_size() && s.invalid[half * MERGE_CLUSTER + simt_lane()] != 0);
}

/* The results of a part, of as many parts. */
TOPK_DEVICE uint64_t results_of_part(uint64_t results, uint32_t parts) {
    return results <= UINT32_MAX - parts ? ((uint32_t)results + parts - 1) / parts
                                         : (results + parts - 1) / parts;
}

/* Whether the warp finds an index that is not allowed, in its share of the block's part; or what a launch
 * before has found. */
template <typename Element>
TOPK_DEVICE bool look_at_indices(const lists_task<Element> &t, uint32_t warp, uint32_t warps) {
    const struct merge_args &a = t.a;
    bool is_invalid = false;
    if (t.has_runs)
        return false;
    if (a.checks == 0)
        return has_invalid(a, t.row, warp * a.parts + t.part, warps * a.parts);
    for (uint32_t check = warp * SIMT_WARP + simt_lane(); check < a.checks; check += warps * SIMT_WARP)
        is_invalid |= a.invalid[t.row * a.checks + check] != 0;
    return is_invalid;
}

/* The end of a part at a rank, or as far from it as leaves room for the results between two ends. Blocks
 * whose parts meet there find the same end, so it does not matter if it is beyond the next one: the results
 * between are written twice. Its bounds are noted if it is known: before all, or of runs behind all. All
 * threads. */
template <typename Element>
TOPK_DEVICE struct guessed_end end_at(const lists_task<Element> &t, const merge_lists_shared<Element> &s,
                                      uint32_t end, uint64_t rank, uint64_t of_part) {
    const uint64_t results = s.results[0];
    const bool is_behind = rank == results && t.has_runs;
    if (simt_warp() == 0)
        s.splits.bounds[split_slot(0, end, SPLIT_LOW, simt_lane())] =
            is_behind ? (uint64_t)(int64_t)t.lengths[simt_lane()] : 0;
    return guessed_end{rank, 0, (uint32_t)(share_room(simt_threads()) - of_part) / 3, rank == results,
                       rank == 0 || is_behind};
}

/* Finds the block's part. Returns the turn of its bounds. All threads. */
template <typename Element, typename Look>
TOPK_DEVICE uint32_t find_share(const lists_task<Element> &t, const merge_lists_shared<Element> &s,
                                struct guessed_end (&ends)[SPLIT_ENDS], const Look &look) {
    simt_block_sync();
    guess_ends(t, s.splits, ends, look);
    if (ends[0].is_found && ends[1].is_found)
        return 0;
    TOPK_REACHED(REACHED_MERGE_UNEVEN);
    if (simt_warp() == 0) {
#pragma unroll
        for (uint32_t end = 0; end < SPLIT_ENDS; end++) {
            const uint64_t low = s.splits.bounds[split_slot(0, end, SPLIT_LOW, simt_lane())];
            if (ends[end].is_found)
                s.splits.bounds[split_slot(0, end, SPLIT_HIGH, simt_lane())] = low;
            else
                begin_split(t, s.splits, end, ends[end].rank);
        }
    }
    return find_splits(t, s.splits, {ends[0].rank, ends[1].rank});
}

/* Merges the block's part. All threads; `turn` counts parts of the block. */
template <typename Element>
TOPK_DEVICE void merge_share(const lists_task<Element> &t, const merge_lists_shared<Element> &s,
                             uint32_t turn) {
    bool is_invalid = false;
    if (simt_warp() == 0) {
        const uint64_t most = note_lists(t);
        if (simt_lane() == 0)
            s.results[0] = most;
    }
    simt_block_sync();
    const uint64_t results = s.results[0], of_part = results_of_part(results, t.a.parts);
    const uint64_t first = of_part * t.part < results ? of_part * t.part : results,
                   last = first + of_part < results ? first + of_part : results;
    struct guessed_end ends[SPLIT_ENDS] = {end_at(t, s, 0, first, of_part), end_at(t, s, 1, last, of_part)};
    const uint32_t found = find_share(t, s, ends, [&](uint32_t warp, uint32_t warps) TOPK_LAMBDA {
        is_invalid = look_at_indices(t, warp, warps);
    });
    if (simt_warp() == 0)
        note_share(t, s, found);
    simt_block_sync();
    is_invalid |= load_share(t, s);
    const uint32_t invalid = simt_block_count(is_invalid);
    if (turn == 0)
        simt_cluster_wait(); /* all blocks have begun */
    tell_cluster(s, turn % 2, invalid);
    /* What is no result is alike, and would go to one slot. */
    const uint32_t half = invalid == 0 ? merge_share_of_lists(t, s) : 0;
    const uint64_t high = ends[1].rank < results ? ends[1].rank : results;
    write_share(t, s, half, ends[0].rank, high, hear_cluster(s, turn % 2));
}

template <typename Element> TOPK_KERNEL TOPK_BOUNDS(MERGE_THREADS, 1) void merge_lists(struct merge_args a) {
    simt_arena arena = simt_shared_arena();
    const merge_lists_shared<Element> s = carve_merge_lists<Element>(arena, simt_threads());
    const uint64_t groups = groups_of(a), units = (uint64_t)a.rows.rows * groups * a.parts;
    uint32_t turn = 0;
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    if (a.has_successor)
        simt_allow_successor();
    simt_cluster_arrive_relaxed();
#pragma unroll 1
    for (uint64_t unit = simt_block(); unit < units; unit += simt_blocks(), turn++) {
        if (turn > 0)
            TOPK_REACHED(REACHED_MERGE_NEXT_LISTS);
        merge_share(lists_task_of<Element>(a, s.begins, s.lengths, unit, groups), s, turn);
        simt_block_sync();
    }
}

#endif
