/* SPDX-License-Identifier: Apache-2.0
 * How a block reads its share of a chunk: each warp copies its part of tiles into its ring, and looks for
 * tiles with elements that may pass the bar. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_READER_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_READER_CUH

#include "../select/near.cuh"
#include "../select/tile_ring.cuh"
#include "slots.cuh"

/* The shared memory of a block that reads a chunk. */
template <typename Element> struct push_memory {
    typedef tile_rings<Element, ACCUMULATE_SLOTS> tiles;
    struct lists_shared lists;         /* at first, where carve_lists() finds them, too */
    simt_shared<uint64_t> known;       /* see put_known() */
    simt_shared<struct way_step> step; /* of a way out */
    held_memory<Element> held;
    typename tiles::rings rings;
};

template <typename Element>
TOPK_HOST_DEVICE push_memory<Element> carve_push(simt_arena &arena, uint32_t warps) {
    push_memory<Element> m;
    m.lists = carve_lists(arena);
    m.known = simt_carve<uint64_t>(arena, KNOWN_WORDS);
    m.step = simt_carve<struct way_step>(arena, 1);
    m.held = carve_held<Element>(arena);
    m.rings = carve_rings<typename push_memory<Element>::tiles::rings>(arena, warps);
    return m;
}

template <typename Element> TOPK_DEVICE push_memory<Element> memory_of_push(void) {
    simt_arena arena = simt_shared_arena();
    return carve_push<Element>(arena, simt_warps());
}

/* The warp's part of the tiles that are the block's: every simt_blocks()-th. Copies are under way in as many
 * slots of the ring as there are. Of a row's last tile a warp may have less than of others, or nothing. All
 * lanes call each function. */
template <typename Element> struct tile_reader {
    typedef typename push_memory<Element>::tiles tiles;
    static const uint32_t PART = tiles::rings::GROUPS_OF_SLOT, GROUPS = tiles::shape::GROUPS,
                          PER = tiles::shape::PER;
    typename tiles::rings rings;
    struct ring_turns turns;
    const simt_u32x4 *next; /* the warp's part of the tile that is copied next */
    uint32_t copied, now;   /* that tile; and the one that the ring brings next, or whose slot is not left */
    uint32_t count;         /* tiles of the row */
    uint32_t of_last;       /* groups that the warp has of the last of them */
    uint32_t head, edges;   /* elements before the body; before and behind it */

    /* Makes the ring, once in a launch. */
    static TOPK_MEMBER tile_reader make(void) {
        tile_reader r = {memory_of_push<Element>().rings, {0, 0}, nullptr, 0, 0, 0, 0, 0, 0};
        r.rings.make();
        return r;
    }
    /* Begins to copy from a row; the ring is empty. */
    TOPK_MEMBER void begin(const Element *row, int64_t length) {
        const struct row_parts parts = parts_of(row, length);
        count = tiles::count(parts);
        of_last = groups_of_warp<Element>(parts, first_group<Element>((int64_t)count - 1));
        head = parts.head;
        edges = parts.head + parts.tail;
        copied = now = simt_block();
        next = (const simt_u32x4 *)(row + head) + first_group<Element>(copied);
        for (uint32_t i = 0; i < ACCUMULATE_SLOTS; i++)
            copy();
    }
    /* Goes on to the next tile with an element that may come before the bound. False: there is none. */
    TOPK_MEMBER bool find(const near_bound<Element> &near) {
        for (; now < count; leave()) {
            if (part_of(now) == 0)
                continue;
            const uint32_t first = rings.take(&turns);
            if (part_of(now) < PART ||
                simt_any(SIMT_ALL_LANES, near.any_of(tiles::read(rings, {first + simt_lane(), GROUPS, 0}))))
                return true;
        }
        return false;
    }
    /* Where what a lane has of that tile lies. */
    TOPK_MEMBER struct tile_place place(void) const {
        struct ring_turns before = {turns.copied, turns.taken - 1};
        return tile_place{rings.take(&before) + simt_lane(),
                          (part_of(now) + SIMT_WARP - 1 - simt_lane()) / SIMT_WARP,
                          head + (first_group<Element>(now) + simt_lane()) * PER};
    }
    /* Leaves it: its slot takes another one. */
    TOPK_MEMBER void leave(void) {
        simt_warp_sync(SIMT_ALL_LANES);
        copy();
        now += simt_blocks();
    }
    /* Waits for the copies that are under way. */
    TOPK_MEMBER void drain(void) {
        while (turns.taken != turns.copied)
            (void)rings.take(&turns);
    }

  private:
    /* Groups that the warp has of a tile. */
    TOPK_MEMBER uint32_t part_of(uint32_t tile) const {
        return tile == count - 1 ? of_last : PART;
    }
    TOPK_MEMBER void copy(void) {
        if (copied < count && part_of(copied) > 0)
            rings.copy(&turns, next, part_of(copied));
        copied += simt_blocks();
        next += (uint64_t)simt_blocks() * simt_warps() * PART;
    }
};

#endif
