/* SPDX-License-Identifier: Apache-2.0
 * Merging sorted lists whose candidates before the cut fit into shared memory: each block that shares a row
 * holds all of them, as words that tell their order, and ranks some of them. The warps of a block take an
 * entry for each lane and a list to search in.
 *
 * Where lists have more such candidates than there is room for, they are ranked as in rank.cuh. */
#ifndef TOPK_SRC_CUDA_MERGE_HELD_CUH
#define TOPK_SRC_CUDA_MERGE_HELD_CUH

#include "rank.cuh"

struct merge_held_shared {
    struct merge_rank_shared rank;
    simt_shared<uint64_t> words;   /* a.held of each list: the greater one is before */
    simt_shared<uint32_t> entries; /* of each list: candidates before the cut; more than a.held: not all */
    simt_shared<uint32_t> ranks;   /* of the entries in a round */
};

/* `has_queue`: lists may have more than they hold. Then nothing is held, and the queue has that room. */
TOPK_HOST_DEVICE struct merge_held_shared carve_merge_held(simt_arena &arena, uint32_t words,
                                                           bool has_queue) {
    struct merge_held_shared s = {};
    s.rank = carve_merge_rank(arena);
    s.entries = simt_carve<uint32_t>(arena, MERGE_LISTS);
    s.ranks = simt_carve<uint32_t>(arena, MERGE_RANKED);
    simt_arena queue = arena;
    s.words = simt_carve<uint64_t>(arena, words);
    if (has_queue) {
        carve_queue(queue, s.rank);
        arena.used_bytes = queue.used_bytes > arena.used_bytes ? queue.used_bytes : arena.used_bytes;
    }
    return s;
}

/* Whether the words of any two candidates differ. Else candidates with one key have one word. */
template <typename Element> TOPK_DEVICE bool are_words_exact(const rank_task<Element> &t) {
    return (t.has_runs && t.a.by_position) || (sizeof(Element) <= 4 && !t.a.rows.wide_indices);
}

/* Greater for the better candidate. */
template <typename Element>
TOPK_DEVICE uint64_t word_of(const rank_task<Element> &t, const merge_rank<Element> &candidate) {
    if (t.has_runs && t.a.by_position)
        return ~(uint64_t)candidate.index;
    return are_words_exact(t) ? (uint64_t)candidate.key << 32 | (uint32_t)~candidate.index
                              : (uint64_t)candidate.key;
}

/* Puts what of a list is before the cut into shared memory, as far as there is room, and counts it: a part of
 * this, for `parts` warps share the list. What is before the cut lies in front, so a warp ends where it has
 * found something else. */
template <typename Element>
TOPK_DEVICE void hold_list(const rank_task<Element> &t, const struct merge_held_shared &s, uint32_t list,
                           uint32_t part, uint32_t parts) {
    const uint32_t piece = MERGE_HELD_ITEMS * SIMT_WARP;
    const merge_rank<Element> cut = {(key_word_t<Element>)t.s.cut[0], (int64_t)(uint64_t)t.s.cut[1]};
    const uint64_t begin = (uint64_t)(int64_t)t.s.begins[list], length = (uint64_t)(int64_t)t.s.lengths[list];
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
                candidates[i] = t.rank_of((int64_t)(begin + place));
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
TOPK_DEVICE uint32_t count_held(const rank_task<Element> &t, const struct merge_held_shared &s, uint32_t list,
                                uint64_t word, int64_t element) {
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
    const int64_t begin = t.s.begins[list], index = t.index(element);
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

/* Ranks the block's pieces `first` and on, `count` of them, and writes what is a result. All threads; between
 * barriers. */
template <typename Element>
TOPK_DEVICE void rank_pieces(const rank_task<Element> &t, const struct merge_held_shared &s, uint32_t first,
                             uint32_t count) {
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
                                                     (int64_t)t.s.begins[at.list] + place);
            if (before > 0)
                simt_atomic_add(&s.ranks[piece * SIMT_WARP + simt_lane()], before);
        }
    }
    simt_block_sync();
#pragma unroll 1
    for (uint32_t piece = simt_warp(); piece < count; piece += simt_warps()) {
        const struct held_piece at = find_piece(of_lane, (first + piece) * t.a.parts + t.part);
        const uint32_t place = at.place + simt_lane(), rank = s.ranks[piece * SIMT_WARP + simt_lane()];
        const int64_t element = (int64_t)t.s.begins[at.list] + place;
        if (place < s.entries[at.list] && rank < t.wanted)
            put_sorted<Element>(t.a, t.row * t.a.rows.k_max + (int64_t)(t.first + rank),
                                t.has_runs ? t.a.from.at[element] : element, t.bits(element),
                                t.index(element));
    }
}

/* Merges the lists, in the block's part. All threads, between barriers. */
template <typename Element>
TOPK_DEVICE void merge_held_lists(const rank_task<Element> &t, const struct merge_held_shared &s) {
    const uint32_t parts = simt_warps() > t.lists ? simt_warps() / t.lists : 1;
    if (simt_thread() < MERGE_LISTS)
        s.entries[simt_thread()] = 0;
    simt_block_sync();
#pragma unroll 1
    for (uint32_t unit = simt_warp(); unit < t.lists * parts; unit += simt_warps())
        hold_list(t, s, unit / parts, unit % parts, parts);
    simt_block_sync();
    const uint32_t entries = simt_lane() < t.lists ? (uint32_t)s.entries[simt_lane()] : 0;
    if (simt_any(SIMT_ALL_LANES, entries > t.a.held)) {
        TOPK_REACHED(REACHED_MERGE_NOT_HELD);
        rank_lists(t);
        return;
    }
    const uint32_t pieces = simt_reduce_add(SIMT_ALL_LANES, pieces_of(entries)),
                   round = MERGE_RANKED / SIMT_WARP;
    const uint32_t mine = pieces > t.part ? (pieces - t.part - 1) / t.a.parts + 1 : 0;
#pragma unroll 1
    for (uint32_t first = 0; first < mine; first += round) {
        rank_pieces(t, s, first, mine - first < round ? mine - first : round);
        simt_block_sync();
    }
}

template <typename Element> TOPK_KERNEL TOPK_BOUNDS(MERGE_THREADS, 1) void merge_held(struct merge_args a) {
    simt_arena arena = simt_shared_arena();
    const struct merge_held_shared s = carve_merge_held(arena, a.held_words, a.has_queue);
    for_lists<Element>(a, s.rank, [&](const rank_task<Element> &t) TOPK_LAMBDA { merge_held_lists(t, s); });
}

#endif
