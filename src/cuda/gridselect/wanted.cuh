/* SPDX-License-Identifier: Apache-2.0
 * A warp wants those elements of a tile that may come before its bound, and pushes them. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_WANTED_CUH
#define TOPK_SRC_CUDA_GRIDSELECT_WANTED_CUH

#include "../select/near.cuh"
#include "queue.cuh"

template <typename Element, bool TWO> TOPK_DEVICE key_word_t<Element> key_of_entry(const struct entry &e) {
    return (key_word_t<Element>)entry_key(TWO, e) & (key_word_t<Element>)(Element) ~(Element)0;
}

/* The lane's elements that match and whose keys are not behind the bound's. Those that tie with it are left
 * out where none of them is before it. */
template <typename Element, bool TWO, typename Tile>
TOPK_DEVICE uint32_t wanted_of(const Tile &tile, const struct code_map &map, const struct entry &bound) {
    const uint64_t position = TWO ? bound.low : (uint32_t)bound.high;
    return items_from<Element>(tile, map, key_of_entry<Element, TWO>(bound),
                               (uint64_t)tile.position(0, 0) < position);
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
