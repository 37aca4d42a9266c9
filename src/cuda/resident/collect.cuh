/* SPDX-License-Identifier: Apache-2.0
 * A row's hits, from bits to lists in shared memory. */
#ifndef TOPK_SRC_CUDA_RESIDENT_COLLECT_CUH
#define TOPK_SRC_CUDA_RESIDENT_COLLECT_CUH

#include "part.cuh"

/* Lists the thread's hits as entries, in any order. Those behind the list's room, `room`, are dropped. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void list_entries(const row_part<Element, ITEMS> &part, uint32_t hits,
                              const row_memory<Element> &m, uint32_t room) {
    uint32_t slot = room;
    if (hits != 0) /* few threads have any, so each asks by itself */
        slot = simt_atomic_add(&m.slots[LISTED_ENTRIES], simt_popc(hits));
    for (; hits != 0 && slot < room; hits &= hits - 1) {
        const uint32_t position = part.position(simt_ffs(hits) - 1);
        m.entries.put(slot++, make_entry(entry_size<Element>::TWO, part.key_at(position), position));
    }
}

/* Lists positions of the thread's hits, from `slot` to `end` - 1. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void put_positions(const row_part<Element, ITEMS> &part, uint32_t hits, uint32_t slot,
                               uint32_t end, simt_shared<uint16_t> to) {
    for (; hits != 0 && slot < end; hits &= hits - 1)
        to[slot++] = (uint16_t)part.position(simt_ffs(hits) - 1);
}

/* Lists positions of the thread's hits, in any order. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void list_positions(const row_part<Element, ITEMS> &part, uint32_t hits,
                                const row_memory<Element> &m) {
    uint32_t of_warp, first = 0;
    const uint32_t rank = warp_scan(simt_popc(hits), &of_warp);
    if (of_warp == 0)
        return;
    if (simt_lane() == 0)
        first = simt_atomic_add(&m.slots[LISTED_POSITIONS], of_warp);
    first = simt_shuffle(SIMT_ALL_LANES, first, 0);
    put_positions(part, hits, first + rank, UINT32_MAX, m.positions);
}

/* Lists positions of the row's first ties, in slots `first` to `end` - 1. There are enough ties. All threads;
 * one barrier. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void list_ties(const row_part<Element, ITEMS> &part, uint32_t ties, uint32_t first, uint32_t end,
                           const row_memory<Element> &m, uint32_t *half) {
    typedef held_shape<Element, ITEMS> shape;
    const uint32_t of_group = (1u << (shape::PER - 1) << 1) - 1;
    const simt_shared<uint32_t> sums = simt_shared_part(m.counts, *half * SIMT_WARP, SIMT_WARP);
    uint32_t total;
    first += scan_of_warps(sums, simt_reduce_add(SIMT_ALL_LANES, simt_popc(ties)), &total);
    *half ^= 1;
#pragma unroll 1
    for (uint32_t g = 0; g < shape::GROUPS && first < end; g++) {
        const uint32_t hits = ties & of_group << g * shape::PER;
        const uint32_t slot = first + warp_scan(simt_popc(hits), &total);
        put_positions(part, hits, slot, end, m.positions);
        first += total;
    }
}

#endif
