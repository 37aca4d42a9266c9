/* SPDX-License-Identifier: Apache-2.0
 * A warp wants those elements of a tile that may come before its bound, and pushes them. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_WANTED_CUH
#define TOPK_SRC_CUDA_GRIDSELECT_WANTED_CUH

#include "../select/near.cuh"
#include "../select/tile_ring.cuh"
#include "meet.cuh"

/* ---- Tiles ---- */

template <typename Element> using tile_ring = tile_rings<Element, 0>;

/* The rings lie behind what the selection has. */
template <typename Element, bool TWO>
TOPK_HOST_DEVICE typename tile_ring<Element>::rings
carve_block(simt_arena &arena, const struct gridselect_args &a, uint32_t warps, uint32_t blocks) {
    (void)carve_selection<TWO>(arena, a, warps, blocks);
    return carve_rings<typename tile_ring<Element>::rings>(arena, warps, a.slots);
}

template <typename Element, bool TWO>
TOPK_DEVICE typename tile_ring<Element>::rings rings_of(const struct gridselect_args &a) {
    simt_arena arena = simt_shared_arena();
    return carve_block<Element, TWO>(arena, a, simt_warps(), simt_blocks());
}

/* The place of the elements before and after a row's body, which no ring has. */
TOPK_DEVICE struct tile_place place_of_edges(void) {
    return tile_place{~0u, 0, 0};
}

/* What a lane has of a tile where it lies, in the ring; or of the edges of a row, at most one element, which
 * then is the first of the lane's first group. */
template <typename Element> struct placed_tile {
    typedef key_word_t<Element> word;
    static const uint32_t PER = body_tile<Element>::PER, ITEMS = body_tile<Element>::GROUPS * PER;
    typename tile_ring<Element>::rings rings;
    struct tile_place place;
    bool is_edge;
    word edge;

    static TOPK_MEMBER placed_tile of(const struct row_args &a, int64_t row,
                                      const typename tile_ring<Element>::rings &rings,
                                      const struct tile_place &place) {
        if (place.first != ~0u)
            return placed_tile{rings, place, false, 0};
        const struct row r = row_at(a, row);
        const Element *values = row_values<Element>(a, r);
        const edge_tile<Element> edges =
            load_edges(values, parts_of(values, r.length), r.length, simt_thread());
        return placed_tile{rings, {place.first, edges.inside, edges.at}, true, edges.element};
    }
    TOPK_MEMBER body_tile<Element> read(void) const {
        if (!is_edge)
            return tile_ring<Element>::read(rings, place);
        body_tile<Element> t = {};
        t.raw[0].x = (uint32_t)edge;
        t.raw[0].y = sizeof(Element) == 8 ? (uint32_t)((uint64_t)edge >> 32) : 0;
        t.count = place.count;
        t.position0 = place.position;
        return t;
    }
    /* Of one element: reading it again takes no registers between the calls. */
    TOPK_MEMBER word bits(uint32_t item) const {
        return is_edge ? edge : tile_ring<Element>::bits(rings, place, item);
    }
    TOPK_MEMBER int64_t position(uint32_t item) const {
        return tile_ring<Element>::position(place, item);
    }
};

/* ---- Elements of a tile: bit group * PER + element ---- */

/* The lane's first `count`. */
TOPK_DEVICE uint32_t first_items(uint32_t count) {
    return count < 32 ? (1u << count) - 1 : ~0u;
}

/* No element meets the predicate. */
template <typename Element> TOPK_DEVICE bool none_matches(const struct predicate_args &predicate) {
    return predicate.is_given && matcher<Element, true>::of(predicate).none;
}

/* What a mask lets through. All lanes. */
template <typename Element>
TOPK_DEVICE uint32_t masked_items(const matcher<Element, true> &match, int64_t index,
                                  const placed_tile<Element> &tile) {
    const uint32_t count = tile.place.count;
    if (tile.is_edge)
        return count != 0 && match.is_masked_in(index);
    mask_part<Element> mask = {};
    mask.load(match.mask, match.mask_has_bits, index, simt_reduce_add(SIMT_ALL_LANES, count), count);
    return mask.matches(match.mask_has_bits, index, count);
}

/* The lane's elements that exist and match. All lanes. */
template <typename Element>
TOPK_DEVICE uint32_t items_that_match(const struct gridselect_args &a, int64_t row,
                                      const placed_tile<Element> &placed) {
    const uint32_t PER = placed_tile<Element>::PER, ITEMS = placed_tile<Element>::ITEMS;
    const uint32_t items = first_items(placed.is_edge ? placed.place.count : placed.place.count * PER);
    if (!a.predicate.is_given)
        return items;
    const matcher<Element, true> match = matcher<Element, true>::of(a.predicate);
    if (match.mask != nullptr)
        return masked_items(match, row_at(a.rows, row).begin + placed.place.position, placed);
    const body_tile<Element> tile = placed.read();
    uint32_t matches = 0;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        matches |= (uint32_t)match.in_arc(tile.bits(i / PER, i % PER)) << i;
    return items & matches;
}

template <typename Element, bool TWO> TOPK_DEVICE key_word_t<Element> key_of_entry(const struct entry &e) {
    return (key_word_t<Element>)entry_key(TWO, e) & (key_word_t<Element>)(Element) ~(Element)0;
}

/* The lane's elements whose keys are not behind the bound's. Those that tie with it are left out where none
 * of them is before it. */
template <typename Element, bool TWO>
TOPK_DEVICE uint32_t wanted_of(const body_tile<Element> &tile, const struct code_map &map,
                               const struct entry &bound) {
    const uint64_t position = TWO ? bound.low : (uint32_t)bound.high;
    return items_from<Element>(tile, map, key_of_entry<Element, TWO>(bound),
                               (uint64_t)tile.position(0, 0) < position);
}

/* The bit of a best one of `items`, if there are any. */
template <typename Element>
TOPK_DEVICE uint32_t best_of(const body_tile<Element> &tile, const struct code_map &map, uint32_t items) {
    const uint32_t PER = body_tile<Element>::PER;
    key_word_t<Element> best = 0;
    uint32_t found = 0;
#pragma unroll
    for (uint32_t i = 0; i < body_tile<Element>::GROUPS * PER; i++) {
        const key_word_t<Element> code = uncut_code_of<Element>(tile.bits(i / PER, i % PER), map);
        const bool is_better = (items >> i & 1) != 0 && (found == 0 || code > best);
        best = is_better ? code : best;
        found = is_better ? 1u << i : found;
    }
    return found;
}

/* ---- Pushing ---- */

/* Of a tile, or of a row: `of` has bits(item) and position(item). All lanes. */
template <typename Element, bool TWO, typename Items, typename Selection>
TOPK_DEVICE void push_items(const Items &of, const struct code_map &map, uint32_t items, Selection &s) {
#pragma unroll 1
    for (; simt_any(SIMT_ALL_LANES, items != 0); items &= items - 1) {
        const uint32_t item = items != 0 ? simt_ffs(items) - 1 : 0;
        const key_word_t<Element> bits = items != 0 ? of.bits(item) : 0;
        s.push(items != 0, make_entry(TWO, key_of<Element>(bits, map), of.position(item)));
    }
}

/* How a block begins with a row: each lane pushes the `rounds` best elements of its first tile. Then warps
 * meet, and so do blocks: the first `awaited` are asked for their parts. From then on bounds keep
 * most elements out. */
struct opening {
    uint32_t rounds, awaited;
};

/* Pushes what a tile has before the bound. A function of its own, which reads the ring once more: most tiles
 * have nothing. All lanes; of an opening all threads, even if a warp has no part of the tile. */
template <typename Element, bool TWO>
TOPK_NOINLINE struct warp_state push_tile(const struct gridselect_args &a, int64_t row,
                                          struct warp_state state, struct tile_place place,
                                          struct opening opening) {
    warp_selection<TWO> s(a, state);
    const placed_tile<Element> tile = placed_tile<Element>::of(a.rows, row, rings_of<Element, TWO>(a), place);
    uint32_t left = items_that_match(a, row, tile);
#pragma unroll 1
    for (uint32_t round = 0; round <= opening.rounds; round++) {
        uint32_t wanted = left & wanted_of<Element, TWO>(tile.read(), a.rows.map, s.bound);
        if (round < opening.rounds)
            wanted = best_of(tile.read(), a.rows.map, wanted);
        left &= ~wanted;
        push_items<Element, TWO>(tile, a.rows.map, wanted, s);
        if (round + 1 == opening.rounds) {
            s.merge_queue();
            meet<TWO>(a, row, s.state(), opening.awaited);
            s.tighten_by_block();
        }
    }
    return s.state();
}

#endif
