/* SPDX-License-Identifier: Apache-2.0
 * What is kept of a streamed row, in the first block of its team; and how its best go to the outputs. */
#ifndef TOPK_SRC_CUDA_RESIDENT_KEPT_CUH
#define TOPK_SRC_CUDA_RESIDENT_KEPT_CUH

#include "results.cuh"
#include "ring.cuh"
#include "search.cuh"

enum { KEPT_HITS, KEPT_TIES, KEPT_COUNTS };

template <typename Element> struct stream_memory {
    typedef key_word_t<Element> word;
    row_memory<Element, block_team> of_block;
    stage_rings rings;
    simt_shared<uint32_t> counts; /* of the block: hits above the bound's class, and ties with the bound */
    simt_shared<uint32_t> sums;   /* both, of each block */
    simt_shared<uint32_t> ties;   /* positions of the block's */
    simt_shared<uint32_t> positions;
    simt_shared<word> bits; /* with these the hits of the team, in a part for each block */
};

template <typename Element>
TOPK_HOST_DEVICE stream_memory<Element> carve_stream(simt_arena &arena, const struct resident_args &a) {
    stream_memory<Element> m;
    m.rings = carve_rings<stage_rings>(arena, RESIDENT_STREAM_THREADS / SIMT_WARP);
    m.of_block = carve_row<Element, block_team>(arena, a, RESIDENT_STREAM_THREADS);
    m.counts = simt_carve<uint32_t>(arena, KEPT_COUNTS);
    m.sums = simt_carve<uint32_t>(arena, KEPT_COUNTS * RESIDENT_STREAM_CLUSTER);
    m.ties = simt_carve<uint32_t>(
        arena,
        (uint32_t)(a.rows.k_max < RESIDENT_STREAM_RESULTS ? a.rows.k_max : (int64_t)RESIDENT_STREAM_RESULTS));
    m.positions = simt_carve<uint32_t>(arena, RESIDENT_KEPT);
    m.bits = simt_carve<key_word_t<Element>>(arena, RESIDENT_KEPT);
    return m;
}

/* A row that is streamed by a team. */
template <typename Element> struct stream_task {
    team_task<Element, block_team> of_block;
    const stream_memory<Element> &m;
    uint32_t rank, blocks;

    TOPK_MEMBER uint32_t k(void) const {
        return (uint32_t)of_block.r.k;
    }
    /* Hits of each block that there is room for. */
    TOPK_MEMBER uint32_t room(void) const {
        return RESIDENT_KEPT / blocks;
    }
    /* How many a block has met, once all know. */
    TOPK_MEMBER uint32_t hits_of(uint32_t block) const {
        return m.sums[block];
    }
    /* Ties of a block that are results, if all are that there is room for. */
    TOPK_MEMBER uint32_t ties_of(uint32_t block) const {
        const uint32_t ties = m.sums[RESIDENT_STREAM_CLUSTER + block];
        return ties < k() ? ties : k();
    }
};

/* The hits in registers, as a part of a row whose items are slots of the list. */
template <typename Element>
TOPK_DEVICE row_part<Element, RESIDENT_KEPT_ITEMS> hold_kept(const stream_task<Element> &t, uint32_t count) {
    static_assert(RESIDENT_KEPT_ITEMS % RESIDENT_STREAM_CLUSTER == 0, "an item is of one block");
    const struct code_map &map = t.of_block.a.rows.map;
    const as_uncut_codes<Element> codes = as_uncut_codes<Element>::of_map(map);
    row_part<Element, RESIDENT_KEPT_ITEMS> part = {{}, 0, 0, {count, count}, nullptr, map};
    part.held.left = 0;
    part.held.end = INT32_MAX; /* all items are the row's, and some of them match */
    part.held.matches = 0;
#pragma unroll
    for (uint32_t i = 0; i < RESIDENT_KEPT_ITEMS; i++) {
        const uint32_t slot = i * RESIDENT_STREAM_THREADS + simt_thread();
        const uint32_t block = i * t.blocks / RESIDENT_KEPT_ITEMS;
        const bool exists = slot - block * t.room() < t.hits_of(block);
        part.held.items[i] = exists ? codes.of(t.m.bits[slot]) : 0;
        part.held.matches |= exists ? 1u << i : 0;
    }
    return part;
}

/* Writes items to slots from `first` on, of those before `end`; `list` counts them. All lanes. */
template <typename Element>
TOPK_DEVICE void write_kept(const stream_task<Element> &t, uint32_t items, uint32_t list, uint32_t first,
                            uint32_t end) {
    const uint32_t of_warp = simt_reduce_add(SIMT_ALL_LANES, simt_popc(items));
    if (of_warp == 0)
        return;
    if (simt_lane() == 0)
        first += simt_atomic_add(&t.m.of_block.slots[list], of_warp);
    first = simt_shuffle(SIMT_ALL_LANES, first, 0);
#pragma unroll 1
    for (uint32_t i = 0; i < RESIDENT_KEPT_ITEMS && first < end; i++) {
        const uint32_t lanes = simt_ballot(SIMT_ALL_LANES, (items >> i & 1) != 0);
        const uint32_t slot = first + simt_popc(lanes & ((1u << simt_lane()) - 1));
        const uint32_t from = i * RESIDENT_STREAM_THREADS + simt_thread();
        if ((items >> i & 1) != 0 && slot < end)
            t.of_block.write(slot, (Element)t.m.bits[from], t.m.positions[from]);
        first += simt_popc(lanes);
    }
}

/* Lists the hits of the thread as entries. */
template <typename Element> TOPK_DEVICE void list_kept(const stream_task<Element> &t, uint32_t items) {
    if (items == 0)
        return;
    const row_memory<Element, block_team> &m = t.m.of_block;
    uint32_t slot = simt_atomic_add(&m.slots[LISTED_ENTRIES], simt_popc(items));
    for (; items != 0; items &= items - 1) {
        const uint32_t from = (simt_ffs(items) - 1) * RESIDENT_STREAM_THREADS + simt_thread();
        m.entries.put(slot++, make_entry(entry_size<Element>::TWO,
                                         key_of<Element>(t.m.bits[from], t.of_block.a.rows.map),
                                         t.m.positions[from]));
    }
}

/* Writes the k best of `count` hits, all of them at or above `low`. All threads of the first block. */
template <typename Element>
TOPK_DEVICE void write_best_kept(const stream_task<Element> &t, uint32_t count, key_word_t<Element> low) {
    const uint32_t k = t.k();
    const row_part<Element, RESIDENT_KEPT_ITEMS> part = hold_kept(t, count);
    code_bracket<Element> b = whole_bracket(part);
    uint32_t turn = 0;
    b.low = low;
    if (count != k) {
        bound_by_greatest(part, t.m.of_block, &b);
        narrow_bracket(t.of_block, part, false, &turn, &b);
    }
    const struct certain_results certain = certain_of(part, b, k);
    const uint32_t winners = certain.count.all, others = b.all & ~certain.items;
    write_kept(t, certain.items, LISTED_POSITIONS, 0, k);
    if (certain.has_ties) {
        write_kept(t, others, LISTED_ENTRIES, winners, k);
    } else if (winners < k) {
        list_kept(t, others);
        simt_block_sync();
        write_ranked_entries(t.of_block, b.count.all - winners, winners);
    }
}

/* Writes all hits, and the block's share of the ties behind them. All threads of the block. */
template <typename Element>
TOPK_DEVICE void write_all_kept(const stream_task<Element> &t, uint32_t hits, uint32_t ties_before) {
    if (t.rank == 0) {
        const row_part<Element, RESIDENT_KEPT_ITEMS> part = hold_kept(t, hits);
        write_kept(t, part.held.matches, LISTED_POSITIONS, 0, t.k());
    }
    for (uint32_t i = simt_thread(); i < t.ties_of(t.rank) && hits + ties_before + i < t.k();
         i += RESIDENT_STREAM_THREADS) {
        const uint32_t position = t.m.ties[i];
        t.of_block.write(hits + ties_before + i, t.of_block.element(position), position);
    }
}

#endif
