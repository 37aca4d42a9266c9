/* SPDX-License-Identifier: Apache-2.0
 * What a warp has found and not yet counted: elements of the interval that go to the row's list, too.
 *
 * A warp waits for no other warp, and takes slots of the list for many elements at once: all warps take them
 * from one counter, which gives one answer in 1.3 ns. Slots for which a warp has no element in the end hold a
 * code outside the interval. No later round counts it. */
#ifndef TOPK_SRC_CUDA_SHARDED_QUEUE_CUH
#define TOPK_SRC_CUDA_SHARDED_QUEUE_CUH

#include "table.cuh"

/* Where a row's codes are kept. */
template <typename Element> struct code_list {
    Element *slots; /* NULL: they are not */
    int64_t room;
    int64_t spare; /* slots beside those for all codes of the row */
    uint64_t *filled;
};

template <typename Element> struct element_queue {
    static const uint32_t FLUSH = SHARDED_FLUSH_BYTES / sizeof(Element),
                          SIZE = FLUSH + SIMT_WARP * tile_shape<Element>::GROUPS * tile_shape<Element>::PER;
    code_list<Element> list;
    simt_shared<Element> elements; /* of the warp */
    /* Alike in all lanes: how many elements wait; the slots that the warp has, and how many it takes. */
    uint32_t filled, left, taking;
    int64_t next;

    /* `queues`: of all warps. */
    static TOPK_MEMBER element_queue of(const code_list<Element> &list, simt_shared<Element> queues) {
        const int64_t warps = (int64_t)simt_blocks() * simt_warps();
        uint32_t taking = FLUSH * SHARDED_FLUSHES_MOST;
        while (taking > FLUSH && taking * warps > list.spare)
            taking /= 2;
        return element_queue{list, simt_shared_part(queues, simt_warp() * SIZE, SIZE), 0, 0, taking, 0};
    }

    /* Takes the elements of a tile that are in the interval. All lanes. */
    template <typename Interval, typename Tile> TOPK_MEMBER void take(const Interval &in, const Tile &tile) {
        uint32_t hits = 0, total;
#pragma unroll
        for (uint32_t i = 0; i < Tile::GROUPS * Tile::PER; i++) {
            const uint32_t g = i / Tile::PER, e = i % Tile::PER;
            if (tile.valid(g) && in.holds(tile.bits(g, e)) && is_match(tile, g, e))
                hits |= 1u << i;
        }
        if (!simt_any(SIMT_ALL_LANES, hits != 0))
            return;
        uint32_t at = filled + warp_scan(simt_popc(hits), &total);
#pragma unroll
        for (uint32_t i = 0; i < Tile::GROUPS * Tile::PER; i++)
            if ((hits >> i & 1) != 0)
                elements[at++] = (Element)tile.bits(i / Tile::PER, i % Tile::PER);
        filled += total;
        simt_warp_sync(SIMT_ALL_LANES);
        if (filled >= FLUSH)
            flush(in);
    }

    /* At the end of a row. All lanes. */
    template <typename Interval> TOPK_MEMBER void finish(const Interval &in) {
        if (filled > left)
            take_slots(filled);
        write(in, 0, filled);
        const Element outside = (Element)(in.low != 0 ? in.low - 1 : in.high + 1);
        for (uint32_t i = simt_lane(); i < left; i += SIMT_WARP)
            put(next + i, outside);
        simt_warp_sync(SIMT_ALL_LANES);
    }

  private:
    TOPK_MEMBER void put(int64_t slot, Element code) const {
        if (slot < list.room)
            list.slots[slot] = code;
    }
    /* All lanes. */
    TOPK_MEMBER void take_slots(uint32_t count) {
        uint64_t slot = 0;
        if (simt_lane() == 0)
            slot = simt_atomic_add(list.filled, (uint64_t)count);
        next = (int64_t)(uint64_t)simt_shuffle(SIMT_ALL_LANES, slot, 0);
        left = count;
    }
    /* Leaves fewer than FLUSH elements. All lanes. */
    template <typename Interval> TOPK_MEMBER void flush(const Interval &in) {
        uint32_t done = 0;
        for (; filled - done >= FLUSH; done += FLUSH) {
            if (left == 0)
                take_slots(taking);
            write(in, done, FLUSH);
        }
        filled -= done;
        for (uint32_t i = simt_lane(); i < filled; i += SIMT_WARP)
            elements[i] = (Element)elements[done + i];
        simt_warp_sync(SIMT_ALL_LANES);
    }
    /* Counts `count` elements from `first` on, and lists them. All lanes. */
    template <typename Interval> TOPK_MEMBER void write(const Interval &in, uint32_t first, uint32_t count) {
        for (uint32_t i = simt_lane(); i < count; i += SIMT_WARP) {
            const Element bits = elements[first + i];
            in.add(in.digit(bits));
            put(next + i, (Element)in.code(bits));
        }
        next += count;
        left -= count;
    }
};

#endif
