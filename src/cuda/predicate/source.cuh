/* SPDX-License-Identifier: Apache-2.0
 * A row as a source of elements: all of them, or those that meet the call's predicate.
 *
 * A source fetches a tile and tests it, in two steps: a tile can be on its way while the one before it is
 * tested. A comparison is one test on an element's point (keys.h). Bytes or bits of a mask are fetched with
 * the elements, in loads as wide as their alignment allows. */
#ifndef TOPK_SRC_CUDA_PREDICATE_SOURCE_CUH
#define TOPK_SRC_CUDA_PREDICATE_SOURCE_CUH

#include "../tiles.cuh"
#include "masks.cuh"
#include "matcher.cuh"

/* ---- Tiles that know which of their elements match ---- */

/* Whether an element of a tile matches; and whether all do, in any tile of this kind. */
template <typename Tile> TOPK_DEVICE bool is_match(const Tile &, uint32_t, uint32_t) {
    return true;
}

template <typename Tile> TOPK_DEVICE bool all_match(const Tile &) {
    return true;
}

/* A tile whose elements are compared. */
template <typename Element, typename Tile> struct compared_tile : Tile { matcher<Element, true> predicate; };

template <typename Element, typename Tile>
TOPK_DEVICE bool is_match(const compared_tile<Element, Tile> &tile, uint32_t group, uint32_t element) {
    return tile.predicate.in_arc(tile.bits(group, element));
}

template <typename Element, typename Tile> TOPK_DEVICE bool all_match(const compared_tile<Element, Tile> &) {
    return false;
}

/* A tile with its part of a mask. It has no groups without a match. */
template <typename Tile> struct masked_tile : Tile {
    uint32_t matches; /* bit group * PER + element; 0 where there is no element */

    TOPK_MEMBER bool valid(uint32_t group) const {
        return (matches >> group * Tile::PER & ((1u << Tile::PER) - 1)) != 0;
    }
};

template <typename Tile>
TOPK_DEVICE bool is_match(const masked_tile<Tile> &tile, uint32_t group, uint32_t element) {
    return (tile.matches >> (group * Tile::PER + element) & 1) != 0;
}

template <typename Tile> TOPK_DEVICE bool all_match(const masked_tile<Tile> &) {
    return false;
}

/* Either. */
template <typename Element, typename Tile> struct tested_tile : Tile {
    matcher<Element, true> predicate;
    uint32_t matches;
};

template <typename Element, typename Tile>
TOPK_DEVICE bool is_match(const tested_tile<Element, Tile> &tile, uint32_t group, uint32_t element) {
    return tile.predicate.mask == nullptr ? tile.predicate.in_arc(tile.bits(group, element))
                                          : (tile.matches >> (group * Tile::PER + element) & 1) != 0;
}

/* Calls work() with the tile in a form whose is_match() does not branch: the mask-or-comparison branch runs
 * once per tile. */
template <typename Tile, typename Work> TOPK_DEVICE void branch_once(const Tile &tile, const Work &work) {
    work(tile);
}

template <typename Element, typename Tile, typename Work>
TOPK_DEVICE void branch_once(const tested_tile<Element, Tile> &tile, const Work &work) {
    if (tile.predicate.mask == nullptr)
        work(compared_tile<Element, Tile>{tile, tile.predicate});
    else
        work(masked_tile<Tile>{tile, tile.matches});
}

/* ---- Sources ---- */

template <typename Element, bool WHERE> struct row_source;

/* All elements match. */
template <typename Element> struct row_source<Element, false> {
    static const bool WHERE = false;
    typedef body_tile<Element> fetched_tile;
    const struct row_args &a;
    const struct row &r;

    TOPK_MEMBER const Element *values(void) const {
        return row_values<Element>(a, r);
    }
    TOPK_MEMBER fetched_tile fetch(const struct row_parts &parts, int64_t tile) const {
        return load_body(values(), parts, tile);
    }
    /* What else belongs to a tile whose elements are there. */
    TOPK_MEMBER fetched_tile complete(const body_tile<Element> &of, const struct row_parts &, int64_t) const {
        return of;
    }
    TOPK_MEMBER const body_tile<Element> &test(const fetched_tile &tile) const {
        return tile;
    }
    TOPK_MEMBER edge_tile<Element> head(const struct row_parts &parts) const {
        return load_head(values(), parts);
    }
    TOPK_MEMBER edge_tile<Element> tail(const struct row_parts &parts) const {
        return load_tail(values(), parts);
    }
    /* `count` elements from `first` on, one for each thread. */
    TOPK_MEMBER edge_tile<Element> edge(int64_t first, uint32_t count) const {
        return load_edge(values(), first, count);
    }
};

/* A tile of the body with its part of a mask, both on their way. */
template <typename Element> struct fetched_with_mask {
    body_tile<Element> tile;
    mask_part<Element> mask;
};

/* The elements that meet the predicate match. */
template <typename Element> struct row_source<Element, true> {
    static const bool WHERE = true;
    typedef fetched_with_mask<Element> fetched_tile;
    const struct row_args &a;
    const struct row &r;
    matcher<Element, true> predicate;

    TOPK_MEMBER const Element *values(void) const {
        return row_values<Element>(a, r);
    }
    TOPK_MEMBER fetched_tile fetch(const struct row_parts &parts, int64_t tile) const {
        return complete(load_body(values(), parts, tile), parts, tile);
    }
    TOPK_MEMBER fetched_tile complete(const body_tile<Element> &of, const struct row_parts &parts,
                                      int64_t tile) const {
        fetched_tile t = {};
        t.tile = of;
        if (predicate.mask == nullptr)
            return t;
        const uint32_t here = groups_of_warp<Element>(parts, first_group<Element>(tile));
        t.mask.load(predicate.mask, predicate.mask_has_bits, r.begin + t.tile.position0, here, t.tile.count);
        return t;
    }
    /* All lanes. */
    TOPK_MEMBER tested_tile<Element, body_tile<Element>> test(const fetched_tile &t) const {
        uint32_t matches = 0;
        if (predicate.mask != nullptr)
            matches = t.mask.matches(predicate.mask_has_bits, r.begin + t.tile.position0, t.tile.count);
        return tested_tile<Element, body_tile<Element>>{t.tile, predicate, matches};
    }
    /* There are few elements, so their part of a mask is fetched here. */
    TOPK_MEMBER tested_tile<Element, edge_tile<Element>> test_edge(const edge_tile<Element> &t) const {
        uint32_t matches = predicate.mask != nullptr && t.inside && predicate.is_masked_in(r.begin + t.at);
        return tested_tile<Element, edge_tile<Element>>{t, predicate, matches};
    }
    TOPK_MEMBER tested_tile<Element, edge_tile<Element>> head(const struct row_parts &parts) const {
        return test_edge(load_head(values(), parts));
    }
    TOPK_MEMBER tested_tile<Element, edge_tile<Element>> tail(const struct row_parts &parts) const {
        return test_edge(load_tail(values(), parts));
    }
    TOPK_MEMBER tested_tile<Element, edge_tile<Element>> edge(int64_t first, uint32_t count) const {
        return test_edge(load_edge(values(), first, count));
    }
};

template <typename Element>
TOPK_DEVICE row_source<Element, false> source_of(const struct row_args &a, const struct row &r,
                                                 const matcher<Element, false> &) {
    return row_source<Element, false>{a, r};
}

template <typename Element>
TOPK_DEVICE row_source<Element, true> source_of(const struct row_args &a, const struct row &r,
                                                const matcher<Element, true> &predicate) {
    return row_source<Element, true>{a, r, predicate};
}

#endif
