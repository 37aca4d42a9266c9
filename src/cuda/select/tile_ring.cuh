/* SPDX-License-Identifier: Apache-2.0
 * Tiles of a row's body that come through a warp's ring: each slot has what the warp has of one tile. */
#ifndef TOPK_SRC_CUDA_SELECT_TILE_RING_CUH
#define TOPK_SRC_CUDA_SELECT_TILE_RING_CUH

#include "../tiles.cuh"
#include "ring.cuh"

/* What a lane has of a tile in a ring: `count` groups, SIMT_WARP apart. */
struct tile_place {
    uint32_t first, count;
    int64_t position; /* in the row, of the first element */
};

/* Rings whose slots hold a warp's part of a tile. */
template <typename Element, uint32_t SLOTS> struct tile_rings {
    typedef tile_shape<Element> shape;
    typedef warp_rings<SIMT_WARP * shape::GROUPS, SLOTS> rings;

    /* Tiles of a row: fewer than 2^32, since memory holds no more. Blocks have a power of two of threads: no
     * division. */
    static TOPK_MEMBER uint32_t count(const struct row_parts &parts) {
        const uint32_t groups = simt_threads() * shape::GROUPS;
        return (uint32_t)((parts.groups + groups - 1) >> (31 - simt_clz(groups)));
    }
    /* As load_body(). */
    static TOPK_MEMBER body_tile<Element> read(const rings &from, const struct tile_place &place) {
        body_tile<Element> t;
        t.position0 = place.position;
        t.count = place.count;
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++)
            t.raw[g] = g < t.count ? from.groups[place.first + g * SIMT_WARP] : simt_u32x4{0, 0, 0, 0};
        return t;
    }
    /* One element of the lane's, item group * PER + element: its bits, and its position in the row. */
    static TOPK_MEMBER key_word_t<Element> bits(const rings &from, const struct tile_place &place,
                                                uint32_t item) {
        const uint32_t group = place.first + item / shape::PER * SIMT_WARP;
        return simt_shared_as<Element>(from.groups)[group * shape::PER + item % shape::PER];
    }
    static TOPK_MEMBER int64_t position(const struct tile_place &place, uint32_t item) {
        return place.position + (int64_t)(item / shape::PER * SIMT_WARP * shape::PER + item % shape::PER);
    }
};

#endif
