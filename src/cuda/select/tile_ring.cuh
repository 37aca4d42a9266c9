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

    /* Begins to copy the warp's part of a tile of the row at `values`, if it has one. All lanes. */
    static TOPK_MEMBER void copy(const rings &to, struct ring_turns *turns, const Element *values,
                                 const struct row_parts &parts, int64_t tile) {
        const int64_t first = first_group<Element>(tile);
        const uint32_t count = groups_of_warp<Element>(parts, first);
        if (count > 0)
            to.copy(turns, (const simt_u32x4 *)(values + parts.head) + first, count);
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
    /* The same part, once it has come: as load_body(). All lanes. */
    static TOPK_MEMBER body_tile<Element> take(const rings &from, struct ring_turns *turns,
                                               const struct row_parts &parts, int64_t tile) {
        const int64_t first = first_group<Element>(tile);
        const uint32_t here = groups_of_warp<Element>(parts, first);
        const uint32_t in_ring = here > 0 ? from.take(turns) : 0;
        return read(from, tile_place{in_ring + simt_lane(), (here + SIMT_WARP - 1 - simt_lane()) / SIMT_WARP,
                                     parts.head + (first + simt_lane()) * shape::PER});
    }
};

#endif
