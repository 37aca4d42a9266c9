/* SPDX-License-Identifier: Apache-2.0
 * Elements of a tile that may come before a bound: most tiles have none, and few instructions tell. */
#ifndef TOPK_SRC_CUDA_SELECT_NEAR_CUH
#define TOPK_SRC_CUDA_SELECT_NEAR_CUH

#include "../predicate/source.cuh"
#include "reach.cuh"

/* Whether an element of the lane's may come before the bound: few instructions for each element, and more for
 * a bound that is new. */
template <typename Element> struct near_bound {
    typedef key_word_t<Element> word;
    reach<Element> from;

    /* Of elements that meet the predicate, if one is given. */
    static TOPK_MEMBER near_bound of(const struct code_map &map, const struct predicate_args *predicate) {
        word best = (word)(Element) ~(Element)0;
        if (predicate != nullptr && predicate->is_given)
            best = best_code_of_matches<Element>(matcher<Element, true>::of(*predicate), map);
        return near_bound{reach<Element>::of(map, 0, best)};
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

/* The lane's elements that match and whose keys are not below `key`: bit group * PER + element. `has_ties`:
 * those that have this key count, too. */
template <typename Element, typename Tile>
TOPK_DEVICE uint32_t items_from(const Tile &of_any_kind, const struct code_map &map, key_word_t<Element> key,
                                bool has_ties) {
    typedef key_word_t<Element> word;
    const word low = has_ties ? uncut_class_first<Element>(key, map) : uncut_class_last<Element>(key, map);
    uint32_t items = 0;
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
            items |= tile.valid(g) ? here : 0;
        }
    });
    return items;
}

/* The elements before and after the body, which are fewer than a warp's lanes: one for each `thread`. */
template <typename Element>
TOPK_DEVICE edge_tile<Element> load_edges(const Element *values, const struct row_parts &parts,
                                          int64_t length, uint32_t thread) {
    edge_tile<Element> t;
    t.inside = thread < parts.head + parts.tail;
    t.at = thread < parts.head ? thread : length - parts.tail + (thread - parts.head);
    t.element = t.inside ? simt_load_read_only(values + t.at) : (Element)0;
    return t;
}

/* What a tile's loads bring: its elements, with or without their part of a mask. */
template <typename Element> TOPK_DEVICE const body_tile<Element> &elements_of(const body_tile<Element> &t) {
    return t;
}

template <typename Element>
TOPK_DEVICE const body_tile<Element> &elements_of(const fetched_with_mask<Element> &t) {
    return t.tile;
}

#endif
