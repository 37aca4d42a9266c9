/* SPDX-License-Identifier: Apache-2.0
 * What passes a row's bar, of a chunk that is read once. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_GATE_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_GATE_CUH

#include "../select/sinks.cuh"
#include "reader.cuh"

/* What passes the bar of a row, as the row's blocks find it. */
template <typename Element> struct row_gate {
    typedef key_word_t<Element> word;
    const struct accumulate_args &a;
    const struct row &r;
    row_list<Element> free; /* slots behind the candidates, or others */
    int64_t room;           /* of them */
    word key;               /* of the bar, or a code; 0: everything passes */
    int64_t tie_end;        /* ties with the bar pass at lower positions of the chunk */
    uint64_t *taken;        /* slots, and perhaps blocks */
    bool is_open;           /* this launch reads the row */
    bool is_left;           /* the row is left to a selection from the whole chunk, and not read */

    /* Of a state that is not sound, no word is used. */
    static TOPK_MEMBER row_gate of(const struct accumulate_args &a, const struct row &r, int64_t row,
                                   bool is_sound) {
        const bool wide = a.rows.wide_indices;
        struct accumulate_row &at = a.state.rows[row];
        const int64_t all = -(int64_t)is_sound; /* a mask: loads need not wait to learn of it */
        const int64_t count = at.count & all, k = at.k & all;
        const uint64_t bar_key = at.bar_key;
        const int64_t bar_position = at.bar_position;
        const bool has_bar = is_sound & (at.has_bar != 0), closed = k == 0 || r.wanted == 0 || r.length == 0;
        row_gate g = {a,
                      r,
                      row_list<Element>::of(a.state.candidates, row, wide).from(count, wide),
                      a.state.candidates.pitch - count,
                      0,
                      INT64_MAX,
                      &at.taken,
                      false,
                      false};
        if (has_bar) {
            g.key = (word)bar_key;
            g.tie_end = bar_position < a.base ? 0 : bar_position - a.base + 1;
        }
        g.is_left = !closed && !has_bar && r.length > g.room;
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
        return add(tile, [&](uint32_t item) TOPK_LAMBDA { return bits_of_item<Element>(tile, item); });
    }
    /* bits_of(item): of an element of the tile. */
    template <typename Tile, typename Bits>
    TOPK_MEMBER bool add(const Tile &tile, const Bits &bits_of) const {
        uint32_t items = items_of(tile);
        uint32_t total, before = warp_scan(simt_popc(items), &total);
        if (total == 0)
            return true;
        const uint64_t first = take_slots(taken, total) % ACCUMULATE_BLOCK;
        const bool has_room = first + total <= (uint64_t)room;
#pragma unroll 1
        for (int64_t slot = (int64_t)first + before; has_room && items != 0; items &= items - 1, slot++) {
            const uint32_t item = simt_ffs(items) - 1;
            const int64_t position = tile.position(item / Tile::PER, item % Tile::PER);
            free.put(slot, bits_of(item), a.base + position);
            if (a.rows.payload != nullptr)
                free.put_payload(slot, payload_of(position), a.rows.wide_indices);
        }
        return has_room;
    }

  private:
    /* Those of a tile that pass. */
    template <typename Tile> TOPK_MEMBER uint32_t items_of(const Tile &tile) const {
        const bool has_ties = tile.position(0, 0) < tie_end;
        uint32_t items = items_from<Element>(tile, a.rows.map, key, has_ties);
        if (!has_ties || tile.position(Tile::GROUPS - 1, Tile::PER - 1) < tie_end)
            return items;
        uint32_t ties = items & ~items_from<Element>(tile, a.rows.map, key, false);
#pragma unroll 1
        for (; ties != 0; ties &= ties - 1) {
            const uint32_t item = simt_ffs(ties) - 1;
            if (tile.position(item / Tile::PER, item % Tile::PER) >= tie_end)
                items &= ~(1u << item);
        }
        return items;
    }
    TOPK_MEMBER int64_t payload_of(int64_t position) const {
        return read_extent(a.rows.payload, r.begin + position, a.rows.wide_indices);
    }
};

/* The arguments of a push, with a predicate or without. */
TOPK_DEVICE const struct accumulate_args &rows_of(const struct accumulate_args &a) {
    return a;
}

TOPK_DEVICE const struct accumulate_args &rows_of(const struct accumulate_where_args &a) {
    return a.of_rows;
}

template <typename Element> TOPK_DEVICE matcher<Element, false> matcher_of(const struct accumulate_args &) {
    return matcher<Element, false>{};
}

template <typename Element>
TOPK_DEVICE matcher<Element, true> matcher_of(const struct accumulate_where_args &a) {
    return matcher<Element, true>::of(a.predicate);
}

/* Calls work(tile) with what is before and after the body, in a form that knows which elements match. All
 * lanes of one warp. */
template <typename Element, typename Source, typename Work>
TOPK_DEVICE void with_edges(const Source &source, const struct row_parts &parts, const Work &work) {
    const edge_tile<Element> edges = load_edges(source.values(), parts, source.r.length);
    if constexpr (Source::WHERE)
        work(source.test_edge(edges));
    else
        work(edges);
}

/* Adds what passes of a row's tile that the warp's reader has found in that turn of its ring. False: there is
 * no room for all of it. A function of its own: most tiles have nothing that passes. All lanes. */
template <typename Element, typename Args>
TOPK_NOINLINE bool add_tile(const Args &args, int64_t row, int64_t tile, uint32_t turn) {
    const struct accumulate_args &a = rows_of(args);
    const struct row r = row_at(a.rows, row);
    const auto source = source_of<Element>(a.rows, r, matcher_of<Element>(args));
    const struct row_parts parts = parts_of(source.values(), r.length);
    const found_tile<Element> found = found_tile<Element>::in_turn(turn);
    const auto tested = source.test(source.complete(found.load(parts, tile), parts, tile));
    return row_gate<Element>::of(a, r, row, true).add(tested, [&](uint32_t item) TOPK_LAMBDA {
        return found.bits(item);
    });
}

/* The same, of what is before and after a row's body. */
template <typename Element, typename Args> TOPK_NOINLINE bool add_edges(const Args &args, int64_t row) {
    const struct accumulate_args &a = rows_of(args);
    const struct row r = row_at(a.rows, row);
    const row_gate<Element> gate = row_gate<Element>::of(a, r, row, true);
    const auto source = source_of<Element>(a.rows, r, matcher_of<Element>(args));
    bool has_room = true;
    with_edges<Element>(source, parts_of(source.values(), r.length),
                        [&](const auto &edges) TOPK_LAMBDA { has_room = gate.add(edges); });
    return has_room;
}

/* Reads the warp's part of a row, which has been begun. Returns whether there is room for all that passes, as
 * far as the warp knows, which stops without. All threads. */
template <typename Element, typename Args>
TOPK_DEVICE bool read_row(const Args &args, const row_gate<Element> &gate, int64_t row,
                          tile_reader<Element> *reader) {
    const near_bound<Element> near = gate.near();
    bool has_room = true;
    if (simt_block() == 0 && simt_warp() == 0 && reader->parts.head + reader->parts.tail > 0)
        has_room = add_edges<Element>(args, row);
    while (has_room && reader->find(near)) {
        has_room = add_tile<Element>(args, row, reader->now, reader->turns.taken - 1);
        if (has_room)
            reader->leave();
    }
    return has_room;
}

#endif
