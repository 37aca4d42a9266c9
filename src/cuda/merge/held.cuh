/* SPDX-License-Identifier: Apache-2.0
 * Merging the sorted lists of few rows, whose candidates before the cut fit into shared memory: each block
 * that shares a row holds all of them, as words that tell their order, and ranks some of them. The warps of a
 * block take an entry for each lane and a list to search in.
 *
 * Of the lists that have at least n entries, if these are at least k together, the last of the n-th entries
 * is the cut: nothing behind it is a result.
 *
 * Where lists have more such candidates than there is room for, blocks share the results (share.cuh). */
#ifndef TOPK_SRC_CUDA_MERGE_HELD_CUH
#define TOPK_SRC_CUDA_MERGE_HELD_CUH

#include "share.cuh"

template <typename Element> struct merge_held_shared {
    simt_shared<int64_t> begins, lengths; /* of each list: its first element, and how many there are */
    simt_shared<uint64_t> cut;            /* its key and index */
    simt_shared<uint32_t> entries; /* of each list: candidates before the cut; more than a.held: not all */
    simt_shared<uint32_t> ranks;   /* of the entries in a round */
    /* Either: a.held words of each list, the greater one is before; or what a share takes. */
    simt_shared<uint64_t> words;
    merge_lists_shared<Element> share;
};

/* `may_share`: lists may have more than they hold. */
template <typename Element>
TOPK_HOST_DEVICE merge_held_shared<Element> carve_merge_held(simt_arena &arena, uint32_t words,
                                                             bool may_share) {
    merge_held_shared<Element> s = {};
    s.begins = simt_carve<int64_t>(arena, MERGE_LISTS);
    s.lengths = simt_carve<int64_t>(arena, MERGE_LISTS);
    s.cut = simt_carve<uint64_t>(arena, 2);
    s.entries = simt_carve<uint32_t>(arena, MERGE_LISTS);
    s.ranks = simt_carve<uint32_t>(arena, MERGE_RANKED);
    simt_arena share = arena;
    s.words = simt_carve<uint64_t>(arena, words);
    if (may_share) {
        s.share = carve_merge_lists<Element>(share, MERGE_THREADS);
        arena.used_bytes = share.used_bytes > arena.used_bytes ? share.used_bytes : arena.used_bytes;
    }
    return s;
}

/* Whether the words of any two candidates differ. Else candidates with one key have one word. */
template <typename Element> TOPK_DEVICE bool are_words_exact(const lists_task<Element> &t) {
    return sizeof(Element) <= 4 && !t.a.rows.wide_indices;
}

/* Greater for the better candidate. */
template <typename Element>
TOPK_DEVICE uint64_t word_of(const lists_task<Element> &t, const merge_rank<Element> &candidate) {
    return are_words_exact(t) ? (uint64_t)candidate.key << 32 | (uint32_t)~candidate.index
                              : (uint64_t)candidate.key;
}

template <typename Element>
TOPK_DEVICE merge_rank<Element> rank_of(const lists_task<Element> &t, int64_t element) {
    return {key_of<Element>(t.bits(element), t.a.rows.map), t.index(element)};
}

/* Finds the cut of `results`. The first warp. */
template <typename Element>
TOPK_DEVICE void find_cut(const lists_task<Element> &t, const merge_held_shared<Element> &s,
                          uint64_t results) {
    const merge_rank<Element> before_all = {(key_word_t<Element>)~(key_word_t<Element>)0, -1};
    const uint64_t length = (uint64_t)(int64_t)s.lengths[simt_lane()];
    merge_rank<Element> cut = {0, INT64_MAX}; /* behind all */
    uint32_t lists = t.lists;
#pragma unroll 1
    while (lists > 0 && results > 0) {
        const uint64_t depth = (results + lists - 1) / lists;
        merge_rank<Element> mine = before_all;
        bool has_entry = length >= depth;
        if (has_entry) {
            mine = rank_of(t, (int64_t)s.begins[simt_lane()] + (int64_t)depth - 1);
            has_entry = mine.index >= 0;
        }
        const uint32_t deep = simt_popc(simt_ballot(SIMT_ALL_LANES, has_entry));
        if (deep == lists) {
            cut = last_of_lanes(has_entry ? mine : before_all);
            break;
        }
        lists = deep;
    }
    if (simt_lane() == 0) {
        if (lists == 0 || results == 0)
            TOPK_REACHED(REACHED_MERGE_NO_CUT);
        s.cut[0] = cut.key;
        s.cut[1] = (uint64_t)cut.index;
    }
}

/* Puts what of a list is before the cut into shared memory, as far as there is room, and counts it: a part of
 * this, for `parts` warps share the list. What is before the cut lies in front, so a warp ends where it has
 * found something else. */
template <typename Element>
TOPK_DEVICE void hold_list(const lists_task<Element> &t, const merge_held_shared<Element> &s, uint32_t list,
                           uint32_t part, uint32_t parts) {
    const uint32_t piece = MERGE_HELD_ITEMS * SIMT_WARP;
    const merge_rank<Element> cut = {(key_word_t<Element>)s.cut[0], (int64_t)(uint64_t)s.cut[1]};
    const uint64_t begin = (uint64_t)(int64_t)s.begins[list], length = (uint64_t)(int64_t)s.lengths[list];
    const uint32_t first_word = list * t.a.held;
    uint32_t count = 0;
    bool goes_on = true;
#pragma unroll 1
    for (uint64_t first = part * piece; goes_on && first < length && first <= t.a.held;
         first += parts * piece) {
        merge_rank<Element> candidates[MERGE_HELD_ITEMS];
#pragma unroll
        for (uint32_t i = 0; i < MERGE_HELD_ITEMS; i++) {
            const uint64_t place = first + i * SIMT_WARP + simt_lane();
            candidates[i] = {0, MERGE_NONE};
            if (place < length)
                candidates[i] = rank_of(t, (int64_t)(begin + place));
        }
#pragma unroll
        for (uint32_t i = 0; i < MERGE_HELD_ITEMS; i++) {
            const uint64_t place = first + i * SIMT_WARP + simt_lane();
            const bool is_held = candidates[i].index >= 0 && !cut.is_before(candidates[i]);
            if (is_held && place < t.a.held)
                s.words[first_word + (uint32_t)place] = word_of(t, candidates[i]);
            const uint32_t held = simt_popc(simt_ballot(SIMT_ALL_LANES, is_held));
            count += held;
            goes_on = held == SIMT_WARP;
        }
    }
    if (simt_lane() == 0 && count > 0)
        simt_atomic_add(&s.entries[list], count);
}

/* Entries of a list that are before one of another list. */
template <typename Element>
TOPK_DEVICE uint32_t count_held(const lists_task<Element> &t, const merge_held_shared<Element> &s,
                                uint32_t list, uint64_t word, int64_t element) {
    const uint32_t first = list * t.a.held, count = s.entries[list];
    uint32_t before = 0;
    if (count == 0)
        return 0;
#pragma unroll 1
    for (uint32_t step = 1u << (31 - simt_clz(count)); step > 0; step /= 2)
        if (before + step <= count && s.words[first + before + step - 1] > word)
            before += step;
    if (are_words_exact(t) || before == count || s.words[first + before] != word)
        return before;
    const int64_t begin = s.begins[list], index = t.index(element);
    uint32_t end = count; /* among ties, which ascend by index */
    while (before < end) {
        const uint32_t middle = (before + end) / 2;
        if (s.words[first + middle] == word && t.index(begin + middle) < index)
            before = middle + 1;
        else
            end = middle;
    }
    return before;
}

/* Pieces of 32 entries, list after list: where a piece is. */
struct held_piece {
    uint32_t list, place;
};

TOPK_DEVICE uint32_t pieces_of(uint32_t entries) {
    return (entries + SIMT_WARP - 1) / SIMT_WARP;
}

/* The warp's; of lists whose pieces each lane has. All lanes. */
TOPK_DEVICE struct held_piece find_piece(uint32_t pieces_of_lane, uint32_t piece) {
    const uint32_t behind = warp_scan_inclusive(pieces_of_lane);
    const uint32_t list = simt_popc(simt_ballot(SIMT_ALL_LANES, behind <= piece));
    const uint32_t before = simt_shuffle(SIMT_ALL_LANES, behind - pieces_of_lane, list & (SIMT_WARP - 1));
    return held_piece{list, (piece - before) * SIMT_WARP};
}

/* Ranks the block's pieces `first` and on, `count` of them, and writes what is among the first `results`. All
 * threads; between barriers. */
template <typename Element>
TOPK_DEVICE void rank_pieces(const lists_task<Element> &t, const merge_held_shared<Element> &s,
                             uint32_t first, uint32_t count, uint64_t results) {
    const uint32_t of_lane = simt_lane() < t.lists ? pieces_of(s.entries[simt_lane()]) : 0;
    for (uint32_t i = simt_thread(); i < count * SIMT_WARP; i += simt_threads())
        s.ranks[i] = 0;
    simt_block_sync();
#pragma unroll 1
    for (uint32_t item = simt_warp(); item < count * t.lists; item += simt_warps()) {
        const uint32_t piece = item / t.lists, list = item % t.lists;
        const struct held_piece at = find_piece(of_lane, (first + piece) * t.a.parts + t.part);
        const uint32_t place = at.place + simt_lane();
        if (place < s.entries[at.list]) {
            const uint32_t before = list == at.list
                                        ? place
                                        : count_held(t, s, list, s.words[at.list * t.a.held + place],
                                                     (int64_t)s.begins[at.list] + place);
            if (before > 0)
                simt_atomic_add(&s.ranks[piece * SIMT_WARP + simt_lane()], before);
        }
    }
    simt_block_sync();
#pragma unroll 1
    for (uint32_t piece = simt_warp(); piece < count; piece += simt_warps()) {
        const struct held_piece at = find_piece(of_lane, (first + piece) * t.a.parts + t.part);
        const uint32_t place = at.place + simt_lane(), rank = s.ranks[piece * SIMT_WARP + simt_lane()];
        const int64_t element = (int64_t)s.begins[at.list] + place;
        if (place < s.entries[at.list] && rank < results)
            put_sorted<Element>(t.a, t.row * t.a.rows.k_max + (int64_t)rank, element, t.bits(element),
                                t.index(element));
    }
}

/* Pads the row from a slot on, in the block's part. All threads. */
template <typename Element>
TOPK_DEVICE void pad_part(const lists_task<Element> &t, uint64_t from, int64_t index) {
    pad_merged<Element>(t.a, t.row, from + (uint64_t)t.part * simt_threads() + simt_thread(),
                        (uint64_t)t.a.parts * simt_threads(), (uint64_t)t.a.rows.k_max, index);
}

/* Merges what the block holds, in its part, and pads the row. All threads. */
template <typename Element>
TOPK_DEVICE void merge_held_entries(const lists_task<Element> &t, const merge_held_shared<Element> &s,
                                    uint32_t of_lane, uint64_t wanted) {
    const uint32_t pieces = simt_reduce_add(SIMT_ALL_LANES, pieces_of(of_lane)),
                   entries = simt_reduce_add(SIMT_ALL_LANES, of_lane), round = MERGE_RANKED / SIMT_WARP;
    const uint32_t mine = pieces > t.part ? (pieces - t.part - 1) / t.a.parts + 1 : 0;
#pragma unroll 1
    for (uint32_t first = 0; first < mine; first += round) {
        rank_pieces(t, s, first, mine - first < round ? mine - first : round, wanted);
        simt_block_sync();
    }
    pad_part<Element>(t, entries < wanted ? entries : wanted, MERGE_NONE);
}

/* Merges a row's lists that have more than a block holds, by shares. All threads, after a barrier. */
template <typename Element> TOPK_NOINLINE void share_row_of_lists(const struct merge_args &a, uint64_t unit) {
    simt_arena arena = simt_shared_arena();
    const merge_held_shared<Element> s = carve_merge_held<Element>(arena, a.held_words, a.may_share);
    TOPK_REACHED(REACHED_MERGE_NOT_HELD);
    simt_cluster_arrive_relaxed();
    merge_share(lists_task_of<Element>(a, s.begins, s.lengths, unit, 1), s.share, 0);
}

/* Merges the lists of a row, in the block's part. Returns whether the block could hold them. All threads. */
template <typename Element>
TOPK_DEVICE bool merge_row_of_lists(const lists_task<Element> &t, const merge_held_shared<Element> &s) {
    const uint32_t parts = simt_warps() > t.lists ? simt_warps() / t.lists : 1;
    const uint64_t wanted = (uint64_t)wanted_of_row(t.a.rows, t.row);
    if (simt_block_count(look_at_indices(t, simt_warp(), simt_warps())) > 0) {
        pad_part<Element>(t, 0, MERGE_NOT_ALLOWED);
        return true;
    }
    if (simt_warp() == 0) {
        (void)note_lists(t);
        s.entries[simt_lane()] = 0;
        find_cut(t, s, wanted);
    }
    simt_block_sync();
#pragma unroll 1
    for (uint32_t unit = simt_warp(); unit < t.lists * parts; unit += simt_warps())
        hold_list(t, s, unit / parts, unit % parts, parts);
    simt_block_sync();
    const uint32_t entries = simt_lane() < t.lists ? (uint32_t)s.entries[simt_lane()] : 0;
    if (simt_any(SIMT_ALL_LANES, entries > t.a.held))
        return false;
    merge_held_entries(t, s, entries, wanted);
    return true;
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(MERGE_THREADS, 1) void merge_held(TOPK_CONSTANT_ARGS struct merge_args a) {
    simt_wait_predecessor();
    if (is_called_off(a.rows))
        return;
    if (a.has_successor)
        simt_allow_successor();
#pragma unroll 1
    for (uint64_t unit = simt_block(); unit < (uint64_t)a.rows.rows * a.parts; unit += simt_blocks()) {
        simt_arena arena = simt_shared_arena();
        const merge_held_shared<Element> s = carve_merge_held<Element>(arena, a.held_words, a.may_share);
        if (unit != simt_block()) {
            TOPK_REACHED(REACHED_MERGE_NEXT_LISTS);
            simt_block_sync();
        }
        if (!merge_row_of_lists(lists_task_of<Element>(a, s.begins, s.lengths, unit, 1), s)) {
            simt_block_sync();
            share_row_of_lists<Element>(a, unit);
        }
    }
}

#endif
