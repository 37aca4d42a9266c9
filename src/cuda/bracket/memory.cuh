/* SPDX-License-Identifier: Apache-2.0
 * The shared memory of a block, and a block with its row. */
#ifndef TOPK_SRC_CUDA_BRACKET_MEMORY_CUH
#define TOPK_SRC_CUDA_BRACKET_MEMORY_CUH

#include "../select/candidates.cuh"
#include "../select/reach.cuh"
#include "../select/ring.cuh"
#include "../select/small_sort.cuh"
#include "../select/target.cuh"
#include "shapes.cuh"

enum list_counter { WINNER_SLOTS, TIE_SLOTS, SLOT_COUNTERS };
enum { KTH_BIN_WORDS = 4 };
enum team_word { TEAM_ROW, TEAM_BLOCK, TEAM_BLOCKS, TEAM_GROUPS, TEAM_WORDS };
enum match_word { MATCH_BEGIN, MATCH_SPAN, MATCH_NONE, MATCH_BEST, MATCH_WORDS };

template <typename Element, typename Shape> struct bracket_memory {
    static const bool TWO = entry_size<Element>::TWO;
    warp_rings<Shape::CHUNK, Shape::SLOTS> rings;
    simt_shared<simt_u32x4> ring;  /* their groups: RING_GROUPS */
    shared_list<Element> list;     /* PAGE slots */
    entry_list<TWO> entries;       /* results to be sorted, in the bytes of the ring */
    simt_shared<simt_u32x4> quads; /* four bins each: the same as digit.bins */
    struct digit_shared digit;
    struct bucket_shared buckets;    /* whose words are the same bins */
    simt_shared<uint32_t> slots;     /* SLOT_COUNTERS: results that have a slot; atomic */
    simt_shared<uint64_t> ends;      /* two for each warp: of a reduction */
    simt_shared<uint32_t> sums;      /* of scans */
    simt_shared<uint32_t> found;     /* four: of find_bin */
    simt_shared<uint32_t> listed;    /* elements in the block's list, or more if it had no room; atomic */
    simt_shared<uint32_t> ties;      /* elements of a plateau; atomic */
    simt_shared<uint32_t> published; /* two words from one thread to all */
    simt_shared<uint64_t> bin;       /* KTH_BIN_WORDS: the bin of the k-th candidate, while it is cut */
    simt_shared<uint64_t> match;     /* MATCH_WORDS: of the predicate, if one is given */
    simt_shared<uint32_t> team;      /* TEAM_WORDS: the block's share, if rows are shared by their lengths */
    simt_shared<uint32_t> matching;  /* samples that match a predicate; atomic */
    simt_shared<uint32_t> sampled_ties; /* samples of a plateau; 0: not known */
    simt_shared<uint16_t> hits;         /* BRACKET_SHARED_HITS for each warp: where elements are in a chunk */
};

template <typename Element, typename Shape>
TOPK_HOST_DEVICE bracket_memory<Element, Shape> carve_bracket(simt_arena &arena) {
    bracket_memory<Element, Shape> m;
    m.rings = carve_rings<warp_rings<Shape::CHUNK, Shape::SLOTS>>(arena, BRACKET_THREADS / SIMT_WARP);
    m.ring = m.rings.groups;
    m.quads = simt_carve<simt_u32x4>(arena, SELECT_BINS_MAX / 4 + 1); /* with OTHER_BIN */
    m.list = carve_list<Element>(arena, Shape::PAGE);
    m.digit.sums = simt_carve<uint64_t>(arena, SIMT_WARP);
    m.digit.found = simt_carve<uint64_t>(arena, 4);
    m.digit.bins = simt_shared_as<uint32_t>(m.quads);
    m.buckets = carve_buckets(arena);
    m.buckets.words = m.digit.bins;
    m.entries.high = simt_shared_as<uint64_t>(m.ring);
    m.entries.low =
        simt_shared_as<uint64_t>(simt_shared_part(m.ring, Shape::RING_GROUPS / 2, Shape::RING_GROUPS / 2));
    m.slots = simt_carve<uint32_t>(arena, SLOT_COUNTERS);
    m.ends = simt_carve<uint64_t>(arena, 2 * SIMT_WARP);
    m.sums = simt_carve<uint32_t>(arena, SIMT_WARP);
    m.found = simt_carve<uint32_t>(arena, 4);
    m.listed = simt_carve<uint32_t>(arena, 1);
    m.ties = simt_carve<uint32_t>(arena, 1);
    m.published = simt_carve<uint32_t>(arena, 2);
    m.bin = simt_carve<uint64_t>(arena, KTH_BIN_WORDS);
    m.match = simt_carve<uint64_t>(arena, MATCH_WORDS);
    m.team = simt_carve<uint32_t>(arena, TEAM_WORDS);
    m.matching = simt_carve<uint32_t>(arena, 1);
    m.sampled_ties = simt_carve<uint32_t>(arena, 1);
    m.hits = simt_carve<uint16_t>(arena, BRACKET_THREADS / SIMT_WARP * BRACKET_SHARED_HITS);
    return m;
}

/* A block's share of a row. */
template <typename Element, typename Shape> struct bracket_task {
    const struct bracket_args &a;
    bracket_memory<Element, Shape> m;
    int64_t row;
    struct row r;
    struct share share;
    uint32_t groups; /* of a thread's sample */

    TOPK_MEMBER const Element *values(void) const {
        return row_values<Element>(a.rows, r);
    }
    TOPK_MEMBER bool is_alone(void) const {
        return share.blocks == 1;
    }
    /* Whether all blocks of the launch arrive at its barrier. */
    TOPK_MEMBER bool arrives(void) const {
        return a.blocks_of_row > 1;
    }
    TOPK_MEMBER bool leads(void) const {
        return share.block == 0;
    }
    TOPK_MEMBER struct bracket_state *state(void) const {
        return &a.states[row];
    }
    /* Whether the row has a result. */
    TOPK_MEMBER bool exists(void) const {
        return r.k > 0 && !(a.target.kind == TARGET_KTH && r.wanted > r.length);
    }
};

/* Keeps the match of a predicate in shared memory: few calls have one, and registers are scarce. All threads,
 * once for a launch. */
template <typename Element, typename Shape> TOPK_NOINLINE void keep_match(const struct bracket_args &a) {
    simt_arena arena = simt_shared_arena();
    const bracket_memory<Element, Shape> m = carve_bracket<Element, Shape>(arena);
    const matcher<Element, true> match = matcher<Element, true>::of(a.predicate);
    if (simt_thread() == 0) {
        m.match[MATCH_BEST] = best_code_of_matches<Element>(match, a.rows.map);
        m.match[MATCH_BEGIN] = match.begin;
        m.match[MATCH_SPAN] = match.span;
        m.match[MATCH_NONE] = match.none;
        m.matching[0] = 0;
    }
    simt_block_sync();
}

template <typename Element, typename Shape>
TOPK_DEVICE matcher<Element, true> kept_match(const bracket_task<Element, Shape> &t) {
    typedef key_word_t<Element> word;
    const struct predicate_args &p = t.a.predicate;
    const uint64_t begin = t.m.match[MATCH_BEGIN], span = t.m.match[MATCH_SPAN];
    return matcher<Element, true>{
        {(word)p.flip, (word)begin, (word)span, false}, (const uint8_t *)p.mask, p.mask_has_bits};
}

/* Whether an element at that position matches the predicate, if one is given. */
template <typename Element, typename Shape>
TOPK_DEVICE bool is_match_at(const bracket_task<Element, Shape> &t, key_word_t<Element> bits,
                             int64_t position) {
    if (!t.a.predicate.is_given)
        return true;
    const matcher<Element, true> match = kept_match(t);
    return match.mask == nullptr ? match.in_arc(bits) : match.is_masked_in(t.r.begin + position);
}

/* No element with a better uncut code matches the predicate, if one is given. */
template <typename Element, typename Shape>
TOPK_DEVICE key_word_t<Element> best_match(const bracket_task<Element, Shape> &t) {
    return t.a.predicate.is_given ? (key_word_t<Element>)t.m.match[MATCH_BEST]
                                  : (key_word_t<Element>)(Element) ~(Element)0;
}

/* The elements among `hits` of a group that match the predicate. */
template <typename Element, typename Shape>
TOPK_DEVICE uint32_t matches_among(const bracket_task<Element, Shape> &t, const body_tile<Element> &tile,
                                   uint32_t hits) {
    uint32_t matches = 0;
    if (!t.a.predicate.is_given)
        return hits;
#pragma unroll
    for (uint32_t e = 0; e < body_tile<Element>::PER; e++)
        matches |= (hits >> e & 1) != 0 && is_match_at(t, tile.bits(0, e), tile.position0 + e) ? 1u << e : 0;
    return matches;
}

/* The row that the block shares; its first one, if it has rows of its own. Without a division. */
TOPK_DEVICE uint32_t row_of_block(const struct bracket_args &a) {
    return a.blocks_of_row == 1 ? simt_block() : (uint32_t)((uint64_t)simt_block() * a.reciprocal >> 32);
}

/* The block's share of its row. */
template <typename Element, typename Shape>
TOPK_DEVICE struct share share_of_block(const struct bracket_args &a,
                                        const bracket_memory<Element, Shape> &m) {
    if (a.by_length)
        return share{m.team[TEAM_BLOCK], m.team[TEAM_BLOCKS]};
    return share{simt_block() - row_of_block(a) * a.blocks_of_row, a.blocks_of_row};
}

/* The block's task for a row. */
template <typename Element, typename Shape>
TOPK_DEVICE bracket_task<Element, Shape> task_of(const struct bracket_args &a, int64_t row) {
    simt_arena arena = simt_shared_arena();
    const bracket_memory<Element, Shape> m = carve_bracket<Element, Shape>(arena);
    struct row r = row_at(a.rows, row);
    if (a.predicate.is_given && m.match[MATCH_NONE] != 0)
        r.k = 0;
    const uint32_t groups = a.by_length ? (uint32_t)m.team[TEAM_GROUPS] : a.sample_groups;
    return bracket_task<Element, Shape>{a, m, row, r, share_of_block(a, m), groups};
}

/* All threads. */
template <typename Element, typename Shape>
TOPK_DEVICE void clear_quads(const bracket_memory<Element, Shape> &m) {
    for (uint32_t quad = simt_thread(); quad < SELECT_BINS_MAX / 4; quad += simt_threads())
        m.quads[quad] = simt_u32x4{0, 0, 0, 0};
}

/* What a row begins with. All threads. */
template <typename Element, typename Shape>
TOPK_DEVICE void clear_block(const bracket_memory<Element, Shape> &m) {
    clear_quads(m);
    if (simt_thread() == 0) {
        m.listed[0] = 0;
        m.ties[0] = 0;
        m.sampled_ties[0] = 0;
    }
}

/* The block's least and greatest of one number for each thread. All threads; two barriers. */
template <typename Word> struct number_ends { Word least, greatest; };

template <typename Word>
TOPK_DEVICE number_ends<Word> ends_of_block(simt_shared<uint64_t> scratch, Word least, Word greatest) {
    const simt_shared<Word> ends = simt_shared_as<Word>(scratch);
    least = simt_reduce_min(SIMT_ALL_LANES, least);
    greatest = simt_reduce_max(SIMT_ALL_LANES, greatest);
    simt_block_sync();
    if (simt_lane() == 0) {
        ends[simt_warp()] = least;
        ends[SIMT_WARP + simt_warp()] = greatest;
    }
    simt_block_sync();
    const bool exists = simt_lane() < simt_warps();
    least = exists ? (Word)ends[simt_lane()] : ~(Word)0;
    greatest = exists ? (Word)ends[SIMT_WARP + simt_lane()] : 0;
    return number_ends<Word>{simt_reduce_min(SIMT_ALL_LANES, least),
                             simt_reduce_max(SIMT_ALL_LANES, greatest)};
}

#endif
