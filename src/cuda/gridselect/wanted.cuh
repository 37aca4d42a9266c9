/* SPDX-License-Identifier: Apache-2.0
 * A warp wants those elements of a tile that may come before its bound, and pushes them. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_WANTED_CUH
#define TOPK_SRC_CUDA_GRIDSELECT_WANTED_CUH

#include "../predicate/source.cuh"
#include "../select/reach.cuh"
#include "queue.cuh"

/* Whether an element of the lane's may come before the bound: few instructions for each element, and more for
 * a bound that is new. */
template <typename Element> struct near_bound {
    typedef key_word_t<Element> word;
    reach<Element> from;
    word key;

    static TOPK_MEMBER near_bound of(const struct code_map &map) {
        return near_bound{reach<Element>::of(map, 0, (word)(Element) ~(Element)0), 0};
    }
    TOPK_MEMBER void move_to(word to) {
        if (to != key)
            from.begin_at(to);
        key = to;
    }
    TOPK_MEMBER bool any_of(const body_tile<Element> &tile) const {
        return from.kind == REACH_ARC    ? any<REACH_ARC>(tile)
               : from.kind == REACH_ARCS ? any<REACH_ARCS>(tile)
                                         : any<REACH_CODES>(tile);
    }

  private:
    template <enum reach_test TEST> TOPK_MEMBER bool any(const body_tile<Element> &tile) const {
        bool is_near = false;
        struct nearness seen = reach<Element>::template far<TEST>();
#pragma unroll
        for (uint32_t g = 0; g < body_tile<Element>::GROUPS; g++) {
            if (TEST == REACH_CODES)
                is_near |= from.template any<TEST>(tile.raw[g]);
            else
                from.template approach<TEST>(&seen, tile.raw[g]);
        }
        return TEST == REACH_CODES ? is_near : from.template is_near<TEST>(seen);
    }
};

template <typename Element, bool TWO> TOPK_DEVICE key_word_t<Element> key_of_entry(const struct entry &e) {
    return (key_word_t<Element>)entry_key(TWO, e) & (key_word_t<Element>)(Element) ~(Element)0;
}

/* The lane's elements that match and whose keys are not behind the bound's: bit group * PER + element. Those
 * that tie with it are left out where none of them is before it. */
template <typename Element, bool TWO, typename Tile>
TOPK_DEVICE uint32_t wanted_of(const Tile &of_any_kind, const struct code_map &map,
                               const struct entry &bound) {
    typedef key_word_t<Element> word;
    const word key = key_of_entry<Element, TWO>(bound);
    const uint64_t position = TWO ? bound.low : (uint32_t)bound.high;
    const bool has_ties = (uint64_t)of_any_kind.position(0, 0) < position;
    const word low = has_ties ? uncut_class_first<Element>(key, map) : uncut_class_last<Element>(key, map);
    uint32_t wanted = 0;
    branch_once(of_any_kind, [&](const auto &tile) TOPK_LAMBDA {
#pragma unroll
        for (uint32_t g = 0; g < Tile::GROUPS; g++) {
            uint32_t here = 0;
#pragma unroll
            for (uint32_t e = 0; e < Tile::PER; e++) {
                const word code = uncut_code_of<Element>(tile.bits(g, e), map);
                here |= (has_ties ? code >= low : code > low) && is_match(tile, g, e)
                            ? 1u << (g * Tile::PER + e)
                            : 0;
            }
            wanted |= tile.valid(g) ? here : 0;
        }
    });
    return wanted;
}

/* Without a load, which would be one of local memory. */
template <typename Element, typename Tile>
TOPK_DEVICE key_word_t<Element> bits_of_item(const Tile &tile, uint32_t item) {
    key_word_t<Element> bits = 0;
#pragma unroll
    for (uint32_t i = 0; i < Tile::GROUPS * Tile::PER; i++)
        bits = i == item ? tile.bits(i / Tile::PER, i % Tile::PER) : bits;
    return bits;
}

/* All lanes. */
template <typename Element, bool TWO, typename Tile>
TOPK_DEVICE void push_tile(const struct code_map &map, const Tile &tile, warp_selection<TWO> &s) {
    uint32_t wanted = wanted_of<Element, TWO>(tile, map, s.bound);
#pragma unroll 1
    for (; simt_any(SIMT_ALL_LANES, wanted != 0); wanted &= wanted - 1) {
        const uint32_t item = wanted != 0 ? simt_ffs(wanted) - 1 : 0;
        const key_word_t<Element> key = key_of<Element>(bits_of_item<Element>(tile, item), map);
        s.push(wanted != 0, make_entry(TWO, key, tile.position(item / Tile::PER, item % Tile::PER)));
    }
}

#endif
