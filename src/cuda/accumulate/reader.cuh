/* SPDX-License-Identifier: Apache-2.0
 * How a block reads its share of a chunk: each warp copies its part of tiles into its ring, and looks for
 * tiles with elements that may pass the bar. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_READER_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_READER_CUH

#include "../select/near.cuh"
#include "../select/tile_ring.cuh"
#include "list.cuh"

/* The shared memory of a block that reads a chunk. */
template <typename Element> struct push_memory {
    typedef tile_rings<Element, ACCUMULATE_SLOTS> tiles;
    struct list_memory lists; /* at first, where carve_lists() finds them, too */
    typename tiles::rings rings;
};

template <typename Element>
TOPK_HOST_DEVICE push_memory<Element> carve_push(simt_arena &arena, uint32_t warps) {
    push_memory<Element> m;
    m.lists = carve_lists(arena);
    m.rings = carve_rings<typename push_memory<Element>::tiles::rings>(arena, warps);
    return m;
}

/* The warp's part of the tiles that are the block's: every simt_blocks()-th. Copies are under way in as many
 * slots of the ring as there are. All lanes call each function. */
template <typename Element> struct tile_reader {
    typedef typename push_memory<Element>::tiles tiles;
    typename tiles::rings rings;
    struct ring_turns turns;
    const Element *values;
    struct row_parts parts;
    int64_t now; /* the tile that the ring brings next; or whose slot the warp has not left */

    /* Makes the ring, once in a launch. */
    static TOPK_MEMBER tile_reader make(void) {
        simt_arena arena = simt_shared_arena();
        tile_reader r = {carve_push<Element>(arena, simt_warps()).rings, {0, 0}, nullptr, {0, 0, 0}, 0};
        r.rings.make();
        return r;
    }
    /* Begins to copy from a row; the ring is empty. */
    TOPK_MEMBER void begin(const Element *row, int64_t length) {
        values = row;
        parts = parts_of(row, length);
        now = simt_block();
        for (uint32_t i = 0; i < ACCUMULATE_SLOTS; i++)
            tiles::copy(rings, &turns, values, parts, now + (int64_t)i * simt_blocks());
    }
    /* Goes on to the next tile with an element that may come before the bound. False: there is none. */
    TOPK_MEMBER bool find(const near_bound<Element> &near) {
        while (turns.taken != turns.copied) {
            const body_tile<Element> tile = tiles::take(rings, &turns, parts, now);
            if (simt_any(SIMT_ALL_LANES, near.any_of(tile)))
                return true;
            leave();
        }
        return false;
    }
    /* Leaves the tile that was found: its slot takes another one. */
    TOPK_MEMBER void leave(void) {
        simt_warp_sync(SIMT_ALL_LANES);
        tiles::copy(rings, &turns, values, parts, now + (int64_t)ACCUMULATE_SLOTS * simt_blocks());
        now += simt_blocks();
    }
    /* Waits for the copies that are under way. */
    TOPK_MEMBER void drain(void) {
        while (turns.taken != turns.copied)
            (void)rings.take(&turns);
    }
};

/* A tile that a warp's reader has found, in its slot of the ring. */
template <typename Element> struct found_tile {
    typedef typename push_memory<Element>::tiles tiles;
    typename tiles::rings rings;
    uint32_t turn; /* how many tiles had come through the ring before this one */

    static TOPK_MEMBER found_tile in_turn(uint32_t turn) {
        simt_arena arena = simt_shared_arena();
        return found_tile{carve_push<Element>(arena, simt_warps()).rings, turn};
    }
    TOPK_MEMBER body_tile<Element> load(const struct row_parts &parts, int64_t tile) const {
        struct ring_turns turns = {turn + 1, turn};
        return tiles::take(rings, &turns, parts, tile);
    }
    /* An element of the lane's. */
    TOPK_MEMBER key_word_t<Element> bits(uint32_t item) const {
        const uint32_t PER = tiles::shape::PER;
        struct ring_turns turns = {turn + 1, turn};
        const uint32_t group = rings.take(&turns) + item / PER * SIMT_WARP + simt_lane();
        return simt_shared_as<Element>(rings.groups)[group * PER + item % PER];
    }
};

#endif
