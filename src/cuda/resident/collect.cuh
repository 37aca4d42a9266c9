/* SPDX-License-Identifier: Apache-2.0
 * A row's hits, from bits to lists in shared memory. */
#ifndef TOPK_SRC_CUDA_RESIDENT_COLLECT_CUH
#define TOPK_SRC_CUDA_RESIDENT_COLLECT_CUH

#include "part.cuh"

/* Puts the thread's hits as entries into the list of the first block, from `slot` on. Those behind the list's
 * room, `room`, are dropped. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE void put_entries(const row_part<Element, ITEMS> &part, uint32_t hits, uint32_t slot,
                             const row_memory<Element, Team> &m, uint32_t room) {
    for (; hits != 0 && slot < room; hits &= hits - 1) {
        const uint32_t position = part.position(simt_ffs(hits) - 1);
        put_in_first<Team>(m.entries, slot++,
                           make_entry(entry_size<Element>::TWO, part.key_at(position), position));
    }
}

/* Lists the hits as entries, in any order; this block's begin at slot `first`. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE void list_entries(const row_part<Element, ITEMS> &part, uint32_t hits, uint32_t first,
                              const row_memory<Element, Team> &m, uint32_t room) {
    if (hits != 0) /* few threads have any, so each asks by itself */
        put_entries(part, hits, first + simt_atomic_add(&m.slots[LISTED_ENTRIES], simt_popc(hits)), m, room);
}

/* The same from slot 0 on, but for warps that have more than there is room for: these only add to the count.
 * Where most of a warp's items are hits, as in ascending rows, each thread would put one after another. All
 * lanes. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE void list_if_few(const row_part<Element, ITEMS> &part, uint32_t hits,
                             const row_memory<Element, Team> &m, uint32_t room) {
    const uint32_t of_warp = simt_reduce_add(SIMT_ALL_LANES, simt_popc(hits));
    if (of_warp <= room)
        list_entries(part, hits, 0, m, room);
    else if (simt_lane() == 0)
        simt_atomic_add(&m.slots[LISTED_ENTRIES], of_warp);
}

/* Lists in a cluster, where nobody knows yet how many other blocks have. All lanes. */
template <typename Element, uint32_t ITEMS, bool POSITIONS>
TOPK_DEVICE void list_uncounted(const row_part<Element, ITEMS> &part, uint32_t hits,
                                const row_memory<Element, cluster_team_of<POSITIONS>> &m, uint32_t room) {
    uint32_t of_warp, first = 0;
    if (!simt_any(SIMT_ALL_LANES, hits != 0))
        return;
    const uint32_t rank = warp_scan(simt_popc(hits), &of_warp);
    if (simt_lane() == 0)
        first = simt_remote_add(simt_shared_of_rank(m.slots, 0), LISTED_ENTRIES, of_warp);
    if (of_warp <= room)
        put_entries(part, hits, simt_shuffle(SIMT_ALL_LANES, first, 0) + rank, m, room);
}

/* Lists positions of the thread's hits, from `slot` to `end` - 1. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void put_positions(const row_part<Element, ITEMS> &part, uint32_t hits, uint32_t slot,
                               uint32_t end, simt_shared<uint16_t> to) {
    for (; hits != 0 && slot < end; hits &= hits - 1)
        to[slot++] = (uint16_t)(part.position(simt_ffs(hits) - 1) - part.of_block);
}

/* Lists positions of the thread's hits, in any order. All lanes. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE void list_positions(const row_part<Element, ITEMS> &part, uint32_t hits,
                                const row_memory<Element, Team> &m) {
    uint32_t of_warp, first = 0;
    const uint32_t rank = warp_scan(simt_popc(hits), &of_warp);
    if (of_warp == 0)
        return;
    if (simt_lane() == 0)
        first = simt_atomic_add(&m.slots[LISTED_POSITIONS], of_warp);
    first = simt_shuffle(SIMT_ALL_LANES, first, 0);
    put_positions(part, hits, first + rank, UINT32_MAX, m.positions);
}

/* Adds the positions of the block's first `wanted` ties, or of all, to the list, in order. Returns how many
 * ties that are. All threads; one barrier of the block. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE uint32_t list_ties(const row_part<Element, ITEMS> &part, uint32_t ties, uint32_t wanted,
                               const row_memory<Element, Team> &m, uint32_t turn) {
    typedef held_shape<Element, ITEMS> shape;
    const uint32_t of_group = (1u << (shape::PER - 1) << 1) - 1;
    const simt_shared<uint32_t> sums = simt_shared_part(m.counts, turn % 2 * SIMT_WARP, SIMT_WARP);
    uint32_t of_block, total;
    uint32_t first = scan_of_warps(sums, simt_reduce_add(SIMT_ALL_LANES, simt_popc(ties)), &of_block);
    const uint32_t listed = m.slots[LISTED_POSITIONS], taken = of_block < wanted ? of_block : wanted;
    first += listed;
#pragma unroll 1
    for (uint32_t g = 0; g < shape::GROUPS && first < listed + taken; g++) {
        const uint32_t hits = ties & of_group << g * shape::PER;
        const uint32_t slot = first + warp_scan(simt_popc(hits), &total);
        put_positions(part, hits, slot, listed + taken, m.positions);
        first += total;
    }
    return taken;
}

/* Lists positions in ascending order: of the thread's results, and of the block's first `wanted` ties, or of
 * all. Returns how many the block has. All threads; one barrier of the block. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE uint32_t list_in_order(const row_part<Element, ITEMS> &part, uint32_t results, uint32_t ties,
                                   uint32_t wanted, const row_memory<Element, Team> &m, uint32_t turn) {
    typedef held_shape<Element, ITEMS> shape;
    const uint32_t of_group = (1u << (shape::PER - 1) << 1) - 1;
    const simt_shared<uint32_t> sums = simt_shared_part(m.counts, turn % 2 * SIMT_WARP, SIMT_WARP);
    const auto both = [&](uint32_t mask)
                          TOPK_LAMBDA { return simt_popc(results & mask) + (simt_popc(ties & mask) << 16); };
    uint32_t of_block, total;
    uint32_t first = scan_of_warps(sums, simt_reduce_add(SIMT_ALL_LANES, both(~0u)), &of_block);
#pragma unroll 1
    for (uint32_t g = 0; g < shape::GROUPS; g++) {
        const uint32_t mask = of_group << g * shape::PER, before = first + warp_scan(both(mask), &total);
        uint32_t slot = before & 0xffff, tie = before >> 16;
        slot += tie < wanted ? tie : wanted;
        for (uint32_t hits = (results | ties) & mask; hits != 0; hits &= hits - 1) {
            const bool is_tie = (ties & hits & (0u - hits)) != 0;
            if (!is_tie || tie < wanted)
                m.positions[slot++] = (uint16_t)(part.position(simt_ffs(hits) - 1) - part.of_block);
            tie += is_tie;
        }
        first += total;
    }
    const uint32_t kept = of_block >> 16;
    return (of_block & 0xffff) + (kept < wanted ? kept : wanted);
}

#endif
