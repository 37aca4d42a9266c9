/* SPDX-License-Identifier: Apache-2.0
 * The k-th element of a row between a pair of thresholds, where the better elements are too many to list,
 * and are counted. What lies between the two is counted in bins, and listed while there is room. If a
 * list has no room the row is read again: the bin that holds the k-th element tells a closer pair. */
#ifndef TOPK_SRC_CUDA_BRACKET_BETWEEN_CUH
#define TOPK_SRC_CUDA_BRACKET_BETWEEN_CUH

#include "emit.cuh"
#include "pair.cuh"

/* What a thread looks for, as uncut codes, and what it has counted. */
template <typename Element> struct pair_search {
    struct code_map map;             /* in registers */
    key_word_t<Element> first, high; /* listed, if `lists`: without the plateau */
    tie_class<Element> plateau;
    bool lists, is_full;   /* is_full: the block's list has no room for more */
    uint32_t ties, better; /* of the plateau, and than `high` */

    static TOPK_MEMBER pair_search of(const struct code_map &map, const threshold_pair<Element> &pair) {
        typedef key_word_t<Element> word;
        /* the first code of the zeros is no key: up to it, the zeros are left out */
        const bool ends_at_zeros = pair.high % 2 == 0 && pair.high == (word)map.zeros;
        pair_search s = {map,
                         uncut_class_first<Element>(class_first<Element>(pair.low, map), map),
                         uncut_class_last<Element>(pair.high - (word)ends_at_zeros, map),
                         tie_class<Element>::of(map, pair.low),
                         true,
                         false,
                         0,
                         0};
        s.lists = s.first <= s.high;
        const word last = s.plateau.first + s.plateau.span;
        if (pair.is_plateau) {
            s.lists = last < s.high;
            s.first = last + 1;
        }
        return s;
    }
    TOPK_MEMBER bool is_between(key_word_t<Element> code) const {
        return code - first <= high - first;
    }
};

/* Lists a candidate, or counts it where the list is full. */
template <typename Element, typename Shape>
TOPK_DEVICE void put_between(const bracket_task<Element, Shape> &t, const struct code_map &map,
                             const threshold_pair<Element> &pair, uint32_t slot, key_word_t<Element> bits,
                             int64_t position) {
    if (slot < Shape::PAGE)
        t.m.list.put(slot, bits, position);
    else
        simt_atomic_add(&t.m.digit.bins[pair.bin_of(key_of<Element>(bits, map))], 1u);
}

/* Puts what lanes have found in a chunk: bits of the elements of their groups from `first` on. Lanes share
 * the work, for few have most of the hits. All lanes. */
template <typename Element, typename Shape>
TOPK_DEVICE void share_hits(const bracket_task<Element, Shape> &t, const threshold_pair<Element> &pair,
                            const struct ring_chunk &c, uint32_t first, uint32_t hits,
                            pair_search<Element> *s) {
    const uint32_t PER = body_tile<Element>::PER, MOST = BRACKET_SHARED_HITS, own = simt_warp() * MOST;
    const simt_shared<Element> elements = simt_shared_as<Element>(t.m.ring);
    uint32_t total, next = warp_scan(simt_popc(hits), &total), slot = Shape::PAGE;
    if (!s->is_full) {
        slot = simt_lane() == 0 ? simt_atomic_add(&t.m.listed[0], total) : 0;
        slot = simt_shuffle(SIMT_ALL_LANES, slot, 0);
        s->is_full = slot + total > Shape::PAGE;
    }
#pragma unroll 1
    for (uint32_t begin = 0; begin < total; begin += MOST) {
        const uint32_t rest = total - begin, count = rest < MOST ? rest : MOST;
#pragma unroll 1
        for (; hits != 0 && next < begin + MOST; hits &= hits - 1, next++) {
            const uint32_t item = simt_ffs(hits) - 1, group = first + item / PER;
            t.m.hits[own + next - begin] = (uint16_t)((group * SIMT_WARP + simt_lane()) * PER + item % PER);
        }
        simt_warp_sync(SIMT_ALL_LANES);
#pragma unroll 1
        for (uint32_t i = simt_lane(); i < count; i += SIMT_WARP) {
            const uint32_t at = (uint16_t)t.m.hits[own + i];
            put_between<Element, Shape>(t, s->map, pair, slot + begin + i, elements[c.first * PER + at],
                                        c.position + at);
        }
        simt_warp_sync(SIMT_ALL_LANES);
    }
}

/* Counts the elements of a lane's groups from `first` on, and returns those to be listed, as bits of
 * the elements. */
template <bool PLATEAU, uint32_t COUNT, typename Element, typename Shape>
TOPK_DEVICE uint32_t divide_groups(const bracket_task<Element, Shape> &t, const struct ring_chunk &c,
                                   uint32_t first, pair_search<Element> *s) {
    const uint32_t PER = body_tile<Element>::PER;
    uint32_t hits = 0, better = 0, reach = 0;
#pragma unroll
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t group = (first + i) * SIMT_WARP + simt_lane();
        if (group >= c.groups)
            continue;
        const body_tile<Element> tile = {{t.m.ring[c.first + group]}, 1, 0};
#pragma unroll
        for (uint32_t e = 0; e < PER; e++) {
            const key_word_t<Element> code = uncut_code_of<Element>(tile.bits(0, e), s->map);
            hits |= s->is_between(code) ? 1u << (i * PER + e) : 0;
            better += code > s->high;
            reach += PLATEAU && code >= s->plateau.first;
        }
    }
    hits = s->lists ? hits : 0;
    s->better += better;
    s->ties += PLATEAU ? reach - better - simt_popc(hits) : 0;
    return hits;
}

/* Counts and lists what a chunk has. All lanes. */
template <typename Element, typename Shape>
TOPK_DEVICE void divide_chunk(const bracket_task<Element, Shape> &t, const threshold_pair<Element> &pair,
                              const struct ring_chunk &c, pair_search<Element> *s) {
    const uint32_t PER = body_tile<Element>::PER, GROUPS = Shape::LANE_GROUPS;
    const uint32_t AT_ONCE = 16 / PER < GROUPS / 2 ? 16 / PER : GROUPS / 2;
#pragma unroll 1
    for (uint32_t first = 0; first < GROUPS; first += AT_ONCE) {
        const uint32_t hits = pair.is_plateau ? divide_groups<true, AT_ONCE>(t, c, first, s)
                                              : divide_groups<false, AT_ONCE>(t, c, first, s);
        if (simt_any(SIMT_ALL_LANES, hits != 0))
            share_hits(t, pair, c, first, hits, s);
    }
}

/* The same of the edges of the row. All threads of one block. */
template <typename Element, typename Shape>
TOPK_DEVICE void divide_edges(const bracket_task<Element, Shape> &t, const threshold_pair<Element> &pair,
                              const struct row_parts &parts, pair_search<Element> *s) {
    const uint32_t i = simt_thread();
    if (i >= parts.head + parts.tail)
        return;
    const int64_t position = i < parts.head ? i : t.r.length - parts.tail + (i - parts.head);
    const key_word_t<Element> bits = simt_load_read_only(t.values() + position);
    const key_word_t<Element> code = uncut_code_of<Element>(bits, s->map);
    s->better += code > s->high;
    s->ties += pair.is_plateau && s->plateau.holds(bits);
    if (s->lists && s->is_between(code))
        put_between(t, s->map, pair, simt_atomic_add(&t.m.listed[0], 1u), bits, position);
}

/* Reads the block's share of a row, whose first chunks are on their way. Returns how many elements its
 * list has or would have. All threads, with an empty list and cleared bins. */
template <typename Element, typename Shape>
TOPK_DEVICE uint32_t divide_row(const bracket_task<Element, Shape> &t, const threshold_pair<Element> &pair,
                                chunk_reader<Element, Shape> *chunks, struct ring_turns *turns) {
    const struct row_parts parts = parts_of(t.values(), t.r.length);
    pair_search<Element> s = pair_search<Element>::of(t.a.rows.map, pair);
    if (t.leads())
        divide_edges(t, pair, parts, &s);
    simt_warp_sync(SIMT_ALL_LANES);
    chunks->read(turns, [&](uint32_t chunk, uint32_t first, uint32_t groups) TOPK_LAMBDA {
        const int64_t of_chunk = (int64_t)Shape::CHUNK * body_tile<Element>::PER;
        divide_chunk(t, pair, ring_chunk{first, groups, parts.head + chunk * of_chunk}, &s);
        simt_warp_sync(SIMT_ALL_LANES);
        return true;
    });
    add_of_warp(t.m.digit.bins, 0, s.ties);
    add_of_warp(t.m.digit.bins, threshold_pair<Element>::BETTER, s.better);
    simt_block_sync();
    const uint32_t listed = t.m.listed[0], count = listed < Shape::PAGE ? listed : (uint32_t)Shape::PAGE;
    bin_counter counter = {t.m.digit.bins, 0, 0};
#pragma unroll 1
    for (uint32_t i = simt_thread(); i < count; i += simt_threads())
        counter.add(pair.bin_of(key_of<Element>(t.m.list.bits(i), s.map)));
    counter.flush();
    simt_block_sync();
    return listed;
}

/* What a search between pairs has come to. Unless it is done or has missed, m.bin has the bin of the k-th
 * element, and the lists have all of it. */
struct pair_outcome {
    enum bracket_outcome outcome;
    uint32_t listed; /* by the block */
    uint32_t meetings;
    struct ring_turns turns;
};

/* All threads of all blocks that share the row. */
template <typename Element, typename Shape>
TOPK_NOINLINE struct pair_outcome search_between(const struct bracket_args &a, int64_t row,
                                                 struct ring_turns turns) {
    typedef threshold_pair<Element> pair_type;
    const bracket_task<Element, Shape> t = task_of<Element, Shape>(a, row);
    const uint32_t k = (uint32_t)t.r.k;
    struct team_turn turn = {};
    clear_block(t.m);
    const simt_grid_arrival begun = begin_team(t);
    simt_block_sync();
    const pair_type wide = pair_of(t);
    simt_fence_bulk(); /* the sample comes before the row's copies */
    await_team(t, begun);
    simt_block_sync();
    bool is_closer = t.a.draws_more && !t.is_alone();
    pair_type pair = is_closer ? closest_pair(t, wide, &turn) : wide;
#pragma unroll 1
    for (uint32_t reads = 1;; reads++) {
        chunk_reader<Element, Shape> chunks = chunk_reader<Element, Shape>::of(t);
#pragma unroll 1
        for (uint32_t i = 0; i < Shape::SLOTS; i++)
            chunks.issue(&turns);
        simt_block_sync();
        const uint32_t found = divide_row(t, pair, &chunks, &turns);
        bool is_short = found > Shape::PAGE;
        if (turn.meetings >= BRACKET_TURNS - 1)
            clear_next_turn(t, turn);
        const struct ranked_bin ranked = add_up_bins(t, k, &turn, &is_short);
        const bool is_missed = ranked.total < k || ranked.bin == pair_type::BETTER;
        const kth_bin<Element> bin = pair.bin(ranked);
        if (is_missed && is_closer) {
            TOPK_REACHED(REACHED_BRACKET_GPU_PAIR_WIDENED);
            is_closer = false;
            pair = wide;
            clear_block(t.m);
            continue;
        }
        if (is_missed || reads == BRACKET_PAIR_READS) {
            TOPK_REACHED(REACHED_BRACKET_GPU_PAIR_MISSED);
            return pair_outcome{BRACKET_MISSED, 0, turn.meetings, turns};
        }
        if (bin.is_class()) {
            TOPK_REACHED(REACHED_BRACKET_GPU_COUNTED);
            write_class(t, bin);
            return pair_outcome{BRACKET_DONE, 0, turn.meetings, turns};
        }
        if (!is_short) {
            if (simt_thread() == 0)
                bin.keep(t.m.bin);
            simt_block_sync();
            return pair_outcome{BRACKET_LISTED, found, turn.meetings, turns};
        }
        TOPK_REACHED(REACHED_BRACKET_GPU_PAIR_CLOSER);
        is_closer = false;
        pair = pair_type::of(bin.first, bin.last, false);
        clear_block(t.m);
    }
}

#endif
