/* SPDX-License-Identifier: Apache-2.0
 * A push reads its chunk once. What passes a row's bar goes behind the row's candidates; the last of the
 * row's blocks counts them in. A row is left to a selection from the whole chunk, which follows on a
 * condition, where there is no bar and no room for all of the chunk, or no room for what passes the bar. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_PUSH_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_PUSH_CUH

#include "../select/near.cuh"
#include "../select/sinks.cuh"
#include "list.cuh"
#include "open.cuh"

/* What passes the bar of a row, as the row's blocks find it. */
template <typename Element> struct row_gate {
    typedef key_word_t<Element> word;
    const struct accumulate_args &a;
    const struct row &r;
    row_list<Element> free; /* slots behind the candidates */
    int64_t room;           /* of them */
    word key;               /* of the bar; 0: everything passes */
    int64_t tie_end;        /* ties with the bar pass at lower positions of the chunk */
    uint64_t *taken;
    bool is_open; /* this launch reads the row */
    bool is_left; /* the row is left to a selection from the whole chunk, and not read */

    static TOPK_MEMBER row_gate of(const struct accumulate_args &a, const struct row &r, int64_t row) {
        const bool wide = a.rows.wide_indices;
        struct accumulate_row &at = a.state.rows[row];
        row_gate g = {a,
                      r,
                      row_list<Element>::of(a.state.candidates, row, wide).from(at.count, wide),
                      a.state.candidates.pitch - at.count,
                      0,
                      INT64_MAX,
                      &at.taken,
                      false,
                      false};
        const bool closed = at.k == 0 || r.length == 0;
        if (at.has_bar != 0) {
            g.key = (word)at.bar_key;
            g.tie_end = at.bar_position < a.base ? 0 : at.bar_position - a.base + 1;
        }
        g.is_left = !closed && at.has_bar == 0 && r.length > g.room;
        const bool can_pass = g.tie_end > 0 || g.first_above() != 0;
        if (!can_pass)
            TOPK_REACHED(REACHED_ACCUMULATE_ABOVE);
        g.is_open = !closed && !g.is_left && can_pass;
        return g;
    }
    /* The first code above the bar; 0: there is none. */
    TOPK_MEMBER word first_above(void) const {
        const word last = uncut_class_last<Element>(key, a.rows.map);
        return last == (word)(Element) ~(Element)0 ? 0 : last + 1;
    }
    /* What tells whether an element of a tile may pass. */
    TOPK_MEMBER near_bound<Element> near(void) const {
        near_bound<Element> near = near_bound<Element>::of(a.rows.map);
        near.from.begin_at(tie_end > 0 ? key : first_above());
        return near;
    }
    /* Adds what passes of a tile. False: there is no room for all of it. All lanes. */
    template <typename Tile> TOPK_MEMBER bool add(const Tile &tile) const {
        uint32_t items = items_from<Element>(tile, a.rows.map, key, tile.position(0, 0) < tie_end);
        uint32_t total, before = warp_scan(simt_popc(items), &total);
        if (total == 0)
            return true;
        const uint64_t first = take_slots(taken, total);
        const bool has_room = first + total <= (uint64_t)room;
#pragma unroll 1
        for (int64_t slot = (int64_t)first + before; has_room && items != 0; items &= items - 1, slot++) {
            const uint32_t item = simt_ffs(items) - 1;
            const int64_t position = tile.position(item / Tile::PER, item % Tile::PER);
            free.put(slot, bits_of_item<Element>(tile, item), a.base + position);
            if (a.rows.payload != nullptr)
                free.put_payload(slot, payload_of(position), a.rows.wide_indices);
        }
        return has_room;
    }

  private:
    TOPK_MEMBER int64_t payload_of(int64_t position) const {
        return read_extent(a.rows.payload, r.begin + position, a.rows.wide_indices);
    }
};

/* Reads the block's share of a row, unless there is no room. All threads. */
template <typename Element, typename Source>
TOPK_DEVICE void read_row(const row_gate<Element> &gate, const Source &source) {
    const struct row_parts parts = parts_of(source.values(), gate.r.length);
    const int64_t tiles = tiles_of<Element>(parts);
    typename Source::fetched_tile fetched = source.fetch(parts, simt_block());
    const near_bound<Element> near = gate.near();
    bool has_room = true;
    if (simt_block() == 0 && simt_warp() == 0 && parts.head + parts.tail > 0) {
        const edge_tile<Element> edges = load_edges(source.values(), parts, gate.r.length);
        if constexpr (Source::WHERE)
            has_room = gate.add(source.test_edge(edges));
        else
            has_room = gate.add(edges);
    }
    for (int64_t tile = simt_block(); tile < tiles && has_room; tile += simt_blocks()) {
        const typename Source::fetched_tile now = fetched;
        fetched = source.fetch(parts, tile + simt_blocks());
        if (simt_any(SIMT_ALL_LANES, near.any_of(elements_of<Element>(now))))
            has_room = gate.add(source.test(now));
    }
}

/* Counts in what all blocks have added to a row, and what waits for it. Returns whether the row is left to a
 * selection from the chunk. All threads of the row's last block. */
template <typename Element> TOPK_NOINLINE bool close_row(const struct accumulate_args &a, int64_t row) {
    simt_arena arena = simt_shared_arena();
    const struct list_memory m = carve_lists(arena);
    const struct row r = row_at(a.rows, row);
    struct accumulate_row &at = a.state.rows[row];
    row_candidates<Element> c = row_candidates<Element>::of(a, m, row, a.payload == PAYLOAD_GIVEN);
    const bool has_bar = c.now.has_bar != 0, waits = a.state.header->selects != 0;
    const uint64_t taken = simt_load_relaxed(&at.taken);
    const bool is_left = c.now.k > 0 && ((!has_bar && r.length > c.room()) || taken > (uint64_t)c.room());
    if (is_left)
        TOPK_REACHED(has_bar ? REACHED_ACCUMULATE_OVERFLOW : REACHED_ACCUMULATE_LEFT);
    c.now.count += is_left ? 0 : (int64_t)taken;
    c.now.k = r.wanted < c.now.k ? r.wanted : c.now.k;
    simt_block_sync();
    if (waits) {
        TOPK_REACHED(REACHED_ACCUMULATE_WAITED);
        if (c.room() < a.state.best.pitch)
            c.settle();
        c.add(row_list<Element>::of(a.state.best, row, a.rows.wide_indices), a.state.best.pitch);
    }
    if (c.room() < a.rows.k_max)
        TOPK_REACHED(REACHED_ACCUMULATE_FULL);
    if (c.room() < a.rows.k_max || c.now.has_bar == 0 || waits || c.now.k == 0)
        c.settle();
    c.store(row);
    if (simt_thread() == 0) {
        simt_store_relaxed(&at.taken, (uint64_t)0);
        simt_store_relaxed(&at.ticket, 0u);
        a.state.lengths[row] = is_left ? r.length : 0;
        a.state.ks[row] = c.now.k;
    }
    return is_left;
}

/* Whether this is the last of the row's blocks; then it sees what the others have added. All threads. */
TOPK_DEVICE bool is_last_of_row(uint32_t *ticket, simt_shared<uint32_t> flag) {
    if (simt_blocks() > 1)
        return last_of_blocks(ticket, flag);
    simt_block_sync();
    return true;
}

template <typename Element, bool WHERE>
TOPK_DEVICE void push_rows(const struct accumulate_args &a, const matcher<Element, WHERE> &predicate) {
    simt_arena arena = simt_shared_arena();
    const struct list_memory m = carve_lists(arena);
    uint64_t rows_done = 0;
    uint32_t selects = 0;
    if (!is_sound(a)) {
        break_state(a);
        return;
    }
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        const struct row r = row_at(a.rows, row);
        const row_gate<Element> gate = row_gate<Element>::of(a, r, row);
        if (row != simt_block_y()) {
            TOPK_REACHED(REACHED_ACCUMULATE_NEXT_ROW);
            simt_block_sync();
        }
        if (gate.is_open && !predicate.none)
            read_row<Element>(gate, source_of<Element>(a.rows, r, predicate));
        if (!is_last_of_row(&a.state.rows[row].ticket, m.sums))
            continue;
        selects |= close_row<Element>(a, row);
        rows_done++;
    }
    simt_block_sync();
    if (simt_thread() != 0)
        return;
    uint32_t *of_all = &a.state.header->selecting;
    if (selects != 0 && rows_done != (uint64_t)a.rows.rows)
        simt_atomic_or(of_all, 1u);
    if (!is_last_of_rows(a, rows_done))
        return;
    leave_state(a, selects | simt_load_relaxed(of_all));
    simt_store_relaxed(of_all, 0u);
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(ACCUMULATE_THREADS,
                        2) void accumulate_push(TOPK_CONSTANT_ARGS struct accumulate_args a) {
    push_rows<Element, false>(a, matcher<Element, false>{});
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(ACCUMULATE_THREADS,
                        2) void accumulate_where(TOPK_CONSTANT_ARGS struct accumulate_where_args a) {
    push_rows<Element, true>(a.of_rows, matcher<Element, true>::of(a.predicate));
}

#endif
