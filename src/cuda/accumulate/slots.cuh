/* SPDX-License-Identifier: Apache-2.0
 * Slots for what passes a row's bar. A block holds back its first few hits in shared memory, and takes slots
 * for these when it is done with the row; further ones take theirs at once. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_SLOTS_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_SLOTS_CUH

#include "../../reached.h"
#include "../select/sinks.cuh"
#include "list.cuh"

/* What a block holds back. */
template <typename Element> struct held_memory {
    simt_shared<uint64_t> positions; /* in the chunk */
    simt_shared<Element> elements;
    simt_shared<uint32_t> count;  /* of hits, held back or not */
    simt_shared<uint32_t> others; /* of hits that found no room here, and took slots of the row's */
    simt_shared<uint32_t> full;   /* not 0: there is no room for one of them */

    /* Before a barrier of the block and the first hit. */
    TOPK_MEMBER void clear(void) const {
        if (simt_thread() == 0)
            count[0] = others[0] = full[0] = 0;
    }
    /* Holds back hits of the lane's, while there is room. Returns the others. */
    template <typename Bits, typename Position>
    TOPK_MEMBER uint32_t hold(uint32_t items, const Bits &bits_of, const Position &position_of) const {
        uint32_t slot = items != 0 ? simt_atomic_add(&count[0], simt_popc(items)) : 0;
#pragma unroll 1
        for (; items != 0 && slot < ACCUMULATE_HELD; items &= items - 1, slot++) {
            const uint32_t item = simt_ffs(items) - 1;
            elements[slot] = (Element)bits_of(item);
            positions[slot] = (uint64_t)position_of(item);
        }
        return items;
    }
    TOPK_MEMBER uint32_t held(void) const {
        return count[0] < ACCUMULATE_HELD ? (uint32_t)count[0] : (uint32_t)ACCUMULATE_HELD;
    }
};

template <typename Element> TOPK_HOST_DEVICE held_memory<Element> carve_held(simt_arena &arena) {
    held_memory<Element> m;
    m.positions = simt_carve<uint64_t>(arena, ACCUMULATE_HELD);
    m.elements = simt_carve<Element>(arena, ACCUMULATE_HELD);
    m.count = simt_carve<uint32_t>(arena, 1);
    m.others = simt_carve<uint32_t>(arena, 1);
    m.full = simt_carve<uint32_t>(arena, 1);
    return m;
}

/* Puts an element of a chunk into a slot. */
template <typename Element>
TOPK_DEVICE void put_candidate(const struct accumulate_args &a, const struct row &r,
                               const row_list<Element> &list, int64_t slot, key_word_t<Element> bits,
                               int64_t position) {
    const bool wide = a.rows.wide_indices;
    list.put(slot, bits, a.base + position);
    if (a.rows.payload != nullptr)
        list.put_payload(slot, read_extent(a.rows.payload, r.begin + position, wide), wide);
}

/* Slots of a list that has room for `room`, from a counter. */
template <typename Element> struct free_slots {
    const struct accumulate_args &a;
    const struct row &r;
    row_list<Element> list;
    int64_t room;
    uint64_t *counter;

    /* Behind the candidates of a row, without those for what blocks hold back. */
    static TOPK_MEMBER free_slots of_row(const struct accumulate_args &a, const struct row &r, int64_t row) {
        const bool wide = a.rows.wide_indices;
        struct accumulate_row &at = a.state.rows[row];
        const struct known_row now = known_row::of(at);
        return free_slots{a, r, row_list<Element>::of(a.state.candidates, row, wide).from(now.count, wide),
                          room_of(a, now), &at.taken};
    }
    /* Puts the lanes' hits there. False: there is no room for all of them. All lanes. */
    template <typename Bits, typename Position>
    TOPK_MEMBER bool put(uint32_t items, const Bits &bits_of, const Position &position_of) const {
        uint32_t total, before = warp_scan(simt_popc(items), &total);
        if (total == 0)
            return true;
        const uint64_t first = taken_slots{take_slots(counter, total)}.slots();
        const bool has_room = first + total <= (uint64_t)room;
#pragma unroll 1
        for (int64_t slot = (int64_t)first + before; has_room && items != 0; items &= items - 1, slot++) {
            const uint32_t item = simt_ffs(items) - 1;
            put_candidate(a, r, list, slot, bits_of(item), position_of(item));
        }
        return has_room;
    }
};

/* Adds the lanes' hits that the block does not hold back. False: there is no room. All lanes. */
template <typename Element, typename Bits, typename Position>
TOPK_DEVICE bool add_others(const struct accumulate_args &a, int64_t row, const held_memory<Element> &held,
                            uint32_t items, const Bits &bits_of, const Position &position_of) {
    TOPK_REACHED(REACHED_ACCUMULATE_BEYOND);
    const struct row r = row_at(a.rows, row);
    const uint32_t count = simt_reduce_add(SIMT_ALL_LANES, simt_popc(items));
    const bool has_room = free_slots<Element>::of_row(a, r, row).put(items, bits_of, position_of);
    if (simt_lane() == 0)
        simt_atomic_add(&held.others[0], count);
    if (!has_room && simt_lane() == 0)
        simt_atomic_max(&held.full[0], 1u);
    return has_room;
}

#endif
