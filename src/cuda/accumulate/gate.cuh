/* SPDX-License-Identifier: Apache-2.0
 * What passes a row's bar, of a chunk that is read once. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_GATE_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_GATE_CUH

#include "reader.cuh"

/* What passes the bar of a row, as the row's blocks find it. */
template <typename Element> struct row_gate {
    typedef key_word_t<Element> word;
    const struct accumulate_args &a;
    word key;        /* of the bar, or a code; 0: everything passes */
    int64_t tie_end; /* ties with the bar pass at lower positions of the chunk */

    static TOPK_MEMBER row_gate of(const struct accumulate_args &a, const struct known_row &now) {
        row_gate g = {a, 0, INT64_MAX};
        if (now.has_bar) {
            g.key = (word)now.bar_key;
            g.tie_end = now.bar_position < a.base ? 0 : now.bar_position - a.base + 1;
        }
        return g;
    }
    TOPK_MEMBER bool can_pass(void) const {
        return tie_end > 0 || first_above() != 0;
    }
    /* The first code above the bar; 0: there is none. */
    TOPK_MEMBER word first_above(void) const {
        const word last = uncut_class_last<Element>(key, a.rows.map);
        return last == (word)(Element) ~(Element)0 ? 0 : last + 1;
    }
    /* What tells whether an element of a tile may pass. */
    TOPK_MEMBER near_bound<Element> near(const struct predicate_args *predicate) const {
        near_bound<Element> near = near_bound<Element>::of(a.rows.map, predicate);
        near.from.begin_at(tie_end > 0 ? key : first_above());
        return near;
    }
    /* The lane's elements of a tile that pass: bit group * PER + element. */
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
};

/* The arguments of a push, with a predicate or without. */
TOPK_DEVICE const struct accumulate_args &rows_of(const struct accumulate_args &a) {
    return a;
}

TOPK_DEVICE const struct accumulate_args &rows_of(const struct accumulate_where_args &a) {
    return a.of_rows;
}

TOPK_DEVICE const struct predicate_args *predicate_of(const struct accumulate_args &) {
    return nullptr;
}

TOPK_DEVICE const struct predicate_args *predicate_of(const struct accumulate_where_args &a) {
    return &a.predicate;
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
    const edge_tile<Element> edges = load_edges(source.values(), parts, source.r.length, simt_thread());
    if constexpr (Source::WHERE)
        work(source.test_edge(edges));
    else
        work(edges);
}

/* The lane's elements of a tile in the ring that pass. Most launches find few such tiles, and find the cache
 * of instructions cold: this is a loop of few instructions. */
template <typename Element>
TOPK_DEVICE uint32_t passing(const row_gate<Element> &gate, const tile_reader<Element> &reader,
                             const struct tile_place &place) {
    typedef typename tile_reader<Element>::tiles tiles;
    typedef key_word_t<Element> word;
    const struct code_map &map = gate.a.rows.map;
    const word first = uncut_class_first<Element>(gate.key, map),
               last = uncut_class_last<Element>(gate.key, map);
    uint32_t items = 0;
#pragma unroll 1
    for (uint32_t item = 0; item < place.count * tiles::shape::PER; item++) {
        const word code = uncut_code_of<Element>(tiles::bits(reader.rings, place, item), map);
        const bool is_before = tiles::position(place, item) < gate.tie_end;
        items |= (uint32_t)(code > last || (is_before && code >= first)) << item;
    }
    return items;
}

/* Elements of a tile in the ring that meet the predicate, as bits. All lanes. */
template <typename Element>
TOPK_DEVICE uint32_t matching(const struct accumulate_args &, int64_t, uint32_t, struct tile_place) {
    return ~0u;
}

template <typename Element>
TOPK_NOINLINE uint32_t matching(const struct accumulate_where_args &args, int64_t row, uint32_t tile,
                                struct tile_place place) {
    typedef typename tile_reader<Element>::tiles tiles;
    const struct row_args &rows = args.of_rows.rows;
    const struct row r = row_at(rows, row);
    const auto source = source_of<Element>(rows, r, matcher_of<Element>(args));
    const body_tile<Element> in_ring = tiles::read(memory_of_push<Element>().rings, place);
    const struct row_parts parts = parts_of(source.values(), r.length);
    uint32_t items = 0;
    branch_once(source.test(source.complete(in_ring, parts, tile)), [&](const auto &tested) TOPK_LAMBDA {
#pragma unroll
        for (uint32_t i = 0; i < tiles::shape::GROUPS * tiles::shape::PER; i++)
            items |= (uint32_t)is_match(tested, i / tiles::shape::PER, i % tiles::shape::PER) << i;
    });
    return items;
}

/* add_others() for elements of a tile in the ring. */
template <typename Element>
TOPK_NOINLINE bool add_beyond(const struct accumulate_args &a, int64_t row, struct tile_place place,
                              uint32_t items) {
    typedef typename tile_reader<Element>::tiles tiles;
    const push_memory<Element> m = memory_of_push<Element>();
    return add_others<Element>(
        a, row, m.held, items, [&](uint32_t item) TOPK_LAMBDA { return tiles::bits(m.rings, place, item); },
        [&](uint32_t item) TOPK_LAMBDA { return tiles::position(place, item); });
}

/* Adds what passes of the tile that a reader has found. False: there is no room for all of it. All lanes. */
template <typename Element, typename Args>
TOPK_DEVICE bool add_tile(const Args &args, const row_gate<Element> &gate, int64_t row,
                          const tile_reader<Element> &reader, const held_memory<Element> &held) {
    typedef typename tile_reader<Element>::tiles tiles;
    const struct tile_place place = reader.place();
    uint32_t items = passing(gate, reader, place);
    if (!simt_any(SIMT_ALL_LANES, items != 0))
        return true;
    items &= matching<Element>(args, row, reader.now, place);
    items = held.hold(
        items, [&](uint32_t item) TOPK_LAMBDA { return tiles::bits(reader.rings, place, item); },
        [&](uint32_t item) TOPK_LAMBDA { return tiles::position(place, item); });
    return !simt_any(SIMT_ALL_LANES, items != 0) || add_beyond<Element>(rows_of(args), row, place, items);
}

/* The same of what is before and after a row's body. A function of its own: most rows have nothing there. */
template <typename Element, typename Args>
TOPK_NOINLINE bool add_edges(const Args &args, int64_t row, key_word_t<Element> key, int64_t tie_end) {
    const struct accumulate_args &a = rows_of(args);
    const struct row r = row_at(a.rows, row);
    const auto source = source_of<Element>(a.rows, r, matcher_of<Element>(args));
    const held_memory<Element> held = memory_of_push<Element>().held;
    bool has_room = true;
    with_edges<Element>(source, parts_of(source.values(), r.length), [&](const auto &edges) TOPK_LAMBDA {
        const auto bits_of = [&](uint32_t) TOPK_LAMBDA { return edges.bits(0, 0); };
        const auto position_of = [&](uint32_t) TOPK_LAMBDA { return edges.position(0, 0); };
        const uint32_t items = row_gate<Element>{a, key, tie_end}.items_of(edges);
        const uint32_t others = held.hold(items, bits_of, position_of);
        if (simt_any(SIMT_ALL_LANES, others != 0))
            has_room = add_others<Element>(a, row, held, others, bits_of, position_of);
    });
    return has_room;
}

/* Reads the warp's part of a row, which has been begun, until there is no room for what passes. */
template <typename Element, typename Args>
TOPK_DEVICE void read_row(const Args &args, const row_gate<Element> &gate, int64_t row,
                          tile_reader<Element> *reader) {
    const near_bound<Element> near = gate.near(predicate_of(args));
    const held_memory<Element> held = memory_of_push<Element>().held;
    bool has_room = true;
    if (simt_block() == 0 && simt_warp() == 0 && reader->edges > 0)
        has_room = add_edges<Element>(args, row, gate.key, gate.tie_end);
    while (has_room && reader->find(near)) {
        has_room = add_tile<Element>(args, gate, row, *reader, held);
        if (has_room)
            reader->leave();
    }
}

#endif
