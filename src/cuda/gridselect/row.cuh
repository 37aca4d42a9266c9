/* SPDX-License-Identifier: Apache-2.0
 * The kernels: each block selects from its tiles of a row; the last of a row's blocks selects from what all
 * of them have found. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_ROW_CUH
#define TOPK_SRC_CUDA_GRIDSELECT_ROW_CUH

#include "kernels.h"
#include "wanted.cuh"

/* What a block knows of the row it works on. */
template <typename Element, bool TWO> struct row_task {
    const struct gridselect_args &a;
    const struct row &r;
    int64_t row;

    TOPK_MEMBER bool is_shared(void) const {
        return simt_blocks() > 1;
    }
    TOPK_MEMBER uint64_t known_bound(void) const {
        return is_shared() ? ~simt_load_relaxed(&a.shared.bounds[row]) : ~(uint64_t)0;
    }
    /* Of a block that shares the row. */
    TOPK_MEMBER int64_t list_of(uint32_t block) const {
        return row * simt_blocks() + block;
    }
};

/* ---- What blocks tell each other ---- */

/* The bound that all blocks of the row know together: of each the entry whose rank in the block is the part,
 * and of these the last one that takes part if the best make up k results. As bound_of_words(); one barrier
 * before, and one inside. */
template <typename Element, bool TWO>
TOPK_DEVICE uint64_t bound_of_parts(const row_task<Element, TWO> &t, const warp_selection<TWO> &s) {
    const entry_list<false> &words = s.memory.words;
    for (uint32_t first = simt_warp() * SIMT_WARP; first < simt_blocks(); first += simt_threads()) {
        const uint32_t block = first + simt_lane();
        put_words(words, first, simt_blocks(),
                  block < simt_blocks() ? ~simt_load_relaxed(&t.a.shared.parts[t.list_of(block)]) : 0);
    }
    simt_block_sync();
    return bound_of_words(words, simt_blocks(), (s.k + t.a.part - 1) / t.a.part);
}

/* Tells the block's part, and its own warps the bound of all parts. All threads. */
template <typename Element, bool TWO>
TOPK_DEVICE void meet_others(const row_task<Element, TWO> &t, const warp_selection<TWO> &s) {
    if (simt_lane() == 0)
        s.memory.counts[simt_warp()] = s.list.count;
    simt_block_sync();
    for (uint32_t i = simt_lane(); i < s.list.count && i < t.a.part; i += SIMT_WARP)
        if (rank_in_block(s.memory, s.list, t.a.capacity, i, t.a.part) == t.a.part - 1)
            simt_store_relaxed(&t.a.shared.parts[t.list_of(simt_block())], ~s.list.get(i).high);
    const uint64_t bound = bound_of_parts(t, s);
    if (bound != ~(uint64_t)0) {
        simt_atomic_min(&s.memory.bound[0], bound);
        simt_atomic_max(&t.a.shared.bounds[t.row], ~bound);
    }
}

/* ---- A block's part of a row ---- */

/* The order in which blocks visit the tiles of a row. A hash permutes the numbers below a power of two; those
 * that no tile has are hashed again. */
struct tile_order {
    int64_t tiles;
    uint32_t bits; /* 0: the order of positions */
    uint32_t seed;

    static TOPK_MEMBER tile_order of(const struct gridselect_args &a, int64_t tiles) {
        const bool is_hashed = a.is_hashed && tiles > 2 && tiles < (int64_t)1 << 31;
        return tile_order{tiles, is_hashed ? 32 - simt_clz((uint32_t)tiles - 1) : 0, (uint32_t)a.seed};
    }
    TOPK_MEMBER int64_t at(int64_t turn) const {
        if (bits == 0 || turn >= tiles)
            return turn;
        const uint32_t mask = (1u << bits) - 1, half = (bits + 1) / 2;
        uint32_t place = (uint32_t)turn;
        do {
            place = (place + seed) * 0x9e3779b1u & mask;
            place = (place ^ place >> half) * 0x85ebca77u & mask;
            place ^= place >> half;
        } while (place >= tiles);
        return place;
    }
};

template <typename Element, bool TWO, typename Source>
TOPK_DEVICE void select_part(const row_task<Element, TWO> &t, const Source &source, warp_selection<TWO> &s) {
    const struct code_map &map = t.a.rows.map;
    const struct row_parts parts = parts_of(source.values(), t.r.length);
    const struct tile_order order = tile_order::of(t.a, tiles_of<Element>(parts));
    near_bound<Element> near = near_bound<Element>::of(map);
    uint32_t asks = simt_warp(); /* in so many turns, for all warps, what other blocks know */
    if (simt_block() == 0 && simt_warp() == 0 && parts.head + parts.tail > 0) {
        const edge_tile<Element> edges = load_edges(source.values(), parts, t.r.length);
        if constexpr (Source::WHERE)
            push_tile<Element, TWO>(map, source.test_edge(edges), s);
        else
            push_tile<Element, TWO>(map, edges, s);
    }
    int64_t meeting = simt_block(); /* the turn after which blocks tell each other again */
    typename Source::fetched_tile fetched = source.fetch(parts, order.at(simt_block()));
    for (int64_t turn = simt_block(); turn < order.tiles; turn += simt_blocks()) {
        const typename Source::fetched_tile now = fetched;
        const uint64_t of_others = asks == 0 ? t.known_bound() : ~(uint64_t)0;
        fetched = source.fetch(parts, order.at(turn + simt_blocks()));
        const uint64_t of_block = s.tighten_by_block();
        near.move_to(key_of_entry<Element, TWO>(s.bound));
        if (simt_any(SIMT_ALL_LANES, near.any_of(elements_of<Element>(now))))
            push_tile<Element, TWO>(map, source.test(now), s);
        if (asks == 0 && t.is_shared()) {
            if (of_block < of_others && simt_lane() == 0)
                simt_atomic_max(&t.a.shared.bounds[t.row], ~of_block);
            if (of_others < of_block)
                s.tell_block(of_others);
        }
        asks = asks == 0 ? simt_warps() - 1 : asks - 1;
        if (turn == meeting && t.a.part > 0 && turn + simt_blocks() < order.tiles) {
            meet_others(t, s);
            meeting = turn + GRIDSELECT_MEETING * (turn - simt_block() + simt_blocks());
        }
    }
    s.drain();
}

/* ---- What the blocks of a row have found ---- */

/* Writes the block's best as its list. All threads. */
template <typename Element, bool TWO>
TOPK_DEVICE void send_list(const row_task<Element, TWO> &t, const warp_selection<TWO> &s) {
    const struct gridselect_shared_rows &to = t.a.shared;
    const int64_t list = t.list_of(simt_block()), first = list * t.a.capacity;
    const uint32_t count = rank_block(s.memory, s.list, s.k, t.a.capacity,
                                      [&](uint32_t rank, const struct entry &e) TOPK_LAMBDA {
                                          to.entries[first + rank] = e.high;
                                          if (TWO)
                                              to.entries_low[first + rank] = e.low;
                                          if (rank == s.k - 1)
                                              simt_atomic_max(&to.bounds[t.row], ~e.high);
                                          if (rank == t.a.part - 1)
                                              simt_store_relaxed(&to.parts[list], ~e.high);
                                      });
    if (simt_thread() == 0)
        to.counts[list] = count;
}

/* Whether this is the last of the row's blocks; then it sees all lists. All threads. */
template <typename Element, bool TWO>
TOPK_DEVICE bool is_last(const row_task<Element, TWO> &t, const selection_memory<TWO> &m) {
    simt_block_sync();
    if (simt_thread() == 0)
        m.flag[0] = simt_atomic_ticket(&t.a.shared.tickets[t.row]) == simt_blocks() - 1;
    simt_block_sync();
    return m.flag[0] != 0;
}

/* Begins a selection from the lists of all blocks. All threads. */
template <typename Element, bool TWO>
TOPK_DEVICE void begin_last(const row_task<Element, TWO> &t, warp_selection<TWO> &s) {
    s.begin(t.a.capacity, s.k, behind<TWO>(t.known_bound()));
    const uint64_t bound = t.a.part > 0 ? bound_of_parts(t, s) : ~(uint64_t)0;
    simt_block_sync();
    if (bound != ~(uint64_t)0)
        simt_atomic_min(&s.memory.bound[0], behind<TWO>(bound).high);
    simt_block_sync();
    s.tighten_by_block();
}

/* Selects from the lists of all blocks, a list for each lane: from their first entries, then from the second
 * ones, until none of them is before the bound. All threads. */
template <typename Element, bool TWO>
TOPK_DEVICE void select_from_lists(const row_task<Element, TWO> &t, warp_selection<TWO> &s) {
    const struct gridselect_shared_rows &from = t.a.shared;
    for (uint32_t first = simt_warp() * SIMT_WARP; first < simt_blocks(); first += simt_threads()) {
        const uint32_t block = first + simt_lane();
        const int64_t list = t.list_of(block);
        const uint32_t count = block < simt_blocks() ? from.counts[list] : 0;
        const int64_t at = list * t.a.capacity;
        const auto load = [&](uint32_t i) TOPK_LAMBDA {
            return i < count ? entry{from.entries[at + i], TWO ? from.entries_low[at + i] : 0}
                             : no_entry<TWO>();
        };
        struct entry next = load(0);
        bool is_open = true;
        for (uint32_t i = 1; simt_any(SIMT_ALL_LANES, is_open); i++) {
            const struct entry e = next;
            next = load(is_open ? i : count);
            is_open = is_open && is_before(e, s.bound);
            s.push(is_open, e);
        }
    }
    s.drain();
}

/* Writes the results and the padding of a row. All threads. */
template <typename Element, bool TWO>
TOPK_DEVICE void write_row(const row_task<Element, TWO> &t, const warp_selection<TWO> &s) {
    const struct row_args &rows = t.a.rows;
    const Element *values = row_values<Element>(rows, t.r);
    const uint32_t count = rank_block(
        s.memory, s.list, s.k, t.a.capacity, [&](uint32_t rank, const struct entry &e) TOPK_LAMBDA {
            const int64_t position = entry_position(TWO, e);
            write_result<Element>(rows, t.row, t.r, rank, values[position], position);
        });
    for (int64_t slot = count + simt_thread(); slot < rows.k_max; slot += simt_threads())
        write_padding<Element>(rows, t.row, slot);
}

template <typename Element, bool TWO, typename Source>
TOPK_DEVICE void select_row(const row_task<Element, TWO> &t, const Source &source, warp_selection<TWO> &s) {
    const uint32_t k = (uint32_t)t.r.k;
    s.begin(t.a.capacity, k, no_entry<TWO>());
    simt_block_sync();
    select_part<Element, TWO>(t, source, s);
    simt_block_sync();
    if (t.is_shared()) {
        send_list(t, s);
        if (!is_last(t, s.memory))
            return;
        TOPK_REACHED(REACHED_GRIDSELECT_LAST);
        begin_last(t, s);
        select_from_lists<Element, TWO>(t, s);
        simt_block_sync();
    }
    write_row<Element, TWO>(t, s);
}

template <typename Element, bool TWO, bool WHERE>
TOPK_DEVICE void select_rows(const struct gridselect_args &a, const matcher<Element, WHERE> &predicate) {
    simt_arena arena = simt_shared_arena();
    const selection_memory<TWO> memory = carve_selection<TWO>(
        arena, simt_warps(), a.capacity, queue_slots(a.has_lane_queues), a.part > 0 ? simt_blocks() : 0);
    warp_selection<TWO> s = {memory, a.has_lane_queues};
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        const struct row r = row_at(a.rows, row);
        const row_task<Element, TWO> task = {a, r, row};
        if (row != simt_block_y()) {
            TOPK_REACHED(REACHED_GRIDSELECT_NEXT_ROW);
            simt_block_sync();
        }
        if (r.k > 0 && !predicate.none)
            select_row<Element, TWO>(task, source_of<Element>(a.rows, r, predicate), s);
        else if (simt_block() == 0)
            for (int64_t slot = simt_thread(); slot < a.rows.k_max; slot += simt_threads())
                write_padding<Element>(a.rows, row, slot);
    }
}

template <typename Element, bool TWO>
TOPK_KERNEL TOPK_BOUNDS(GRIDSELECT_WARPS *SIMT_WARP, 2) void gridselect(struct gridselect_args a) {
    if (!is_called_off(a.rows))
        select_rows<Element, TWO, false>(a, matcher<Element, false>{});
}

template <typename Element, bool TWO>
TOPK_KERNEL TOPK_BOUNDS(GRIDSELECT_WARPS *SIMT_WARP,
                        2) void gridselect_where(struct gridselect_where_args a) {
    if (!is_called_off(a.of_row.rows))
        select_rows<Element, TWO, true>(a.of_row, matcher<Element, true>::of(a.predicate));
}

#endif
