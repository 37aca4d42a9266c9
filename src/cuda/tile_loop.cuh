/* SPDX-License-Identifier: Apache-2.0
 * Stream compaction in one pass: tile after tile, in order, with decoupled look-back.
 *
 * A block is at work on several tiles at once, so that nobody waits for long. What happens to a tile, in
 * turns that a barrier ends:
 *
 *   its loads are in flight
 *   its hits are ranked in each warp, and the loads of the next tile issued
 *   its sum is published by the last warp
 *   its hits are listed by the others, the workers; the last warp finds out what comes before the tile
 *   its results are written
 *
 * Tiles are drawn in order, one for each turn, and a block works its own off in order: whoever is waited for
 * gets there. A block publishes the sums of two tiles before it waits for what comes before the first:
 * otherwise blocks that have tiles side by side would wait for one another in a row. */
#ifndef TOPK_SRC_CUDA_TILE_LOOP_CUH
#define TOPK_SRC_CUDA_TILE_LOOP_CUH

#include "lookback.cuh"
#include "ordered.cuh"

/* What is to be done. `Tiles` says how, by these members:
 *
 *   THREADS  of the block: a multiple of 32, 64 to 1024
 *   ITEMS    elements for each worker, at most 32. The workers are the first THREADS - 32 threads, so that a
 *            tile has ITEMS * (THREADS - 32) places, at most 2^16
 *   raw      what a worker loads of a tile
 *   void load(tile, raw &) const
 *            the worker's part; also calls that have to be followed later only
 *   uint32_t hits(tile, const raw &) const
 *            bit i is for place simt_thread() * ITEMS + i. All lanes of a warp
 *   void write(tile, places, base, count) const
 *            `count` hits come behind `base` others: places[0 .. count - 1], in order, if lists().
 *            Workers, at no barrier
 *   bool lists() const
 *            whether the places are wanted; alike in all threads */

/* How far it has come, in global memory. */
struct tile_sequence {
    uint64_t *ticket;       /* zero before the launch */
    struct sum_words words; /* for so many tiles, or more */
    uint32_t tiles;
};

/* AT_ONCE: how many tiles are drawn, ranked and looked back from together, one behind the other; 1 or 2. Two
 * are for tiles that are read and written in less time than it takes to look back. */
template <typename Tiles, uint32_t AT_ONCE = 1> struct tile_loop_shape {
    static const uint32_t WORKERS = Tiles::THREADS - SIMT_WARP, WARPS = WORKERS / SIMT_WARP,
                          SIZE = WORKERS * Tiles::ITEMS;
    /* Places in a list. Where two tiles have more hits, the second is listed once the first is written. */
    static const uint32_t LISTED = AT_ONCE == 1 ? SIZE : SIZE + SIZE / 8;
    static_assert(Tiles::THREADS % SIMT_WARP == 0 && Tiles::THREADS >= 64 && Tiles::THREADS <= 1024,
                  "a block is of whole warps, one of which looks back");
    static_assert(SIZE <= 1 << 16 && Tiles::ITEMS <= 32, "places have 16 bits, and hits 32");
    static_assert(AT_ONCE == 1 || (AT_ONCE == 2 && SIZE < 1 << 16), "the counts of two tiles share a word");
};

/* What one turn hands to the next ones. Each has a place for every turn until it is read for the last time.
 */
struct tile_shared {
    simt_shared<uint64_t> bases;    /* 2: results before what was drawn */
    simt_shared<uint32_t> drawn;    /* 2: a tile, the first of those at once */
    simt_shared<uint32_t> of_warps; /* 3: hits of each warp */
    simt_shared<uint16_t> lists;    /* 2: places of hits */
    simt_shared<uint32_t> waiting;  /* 2: each worker's hits in a second tile that is not listed yet */
};

template <typename Tiles, uint32_t AT_ONCE = 1>
TOPK_HOST_DEVICE struct tile_shared carve_tiles(simt_arena &arena) {
    struct tile_shared s = {};
    s.bases = simt_carve<uint64_t>(arena, 2);
    s.drawn = simt_carve<uint32_t>(arena, 2);
    s.of_warps = simt_carve<uint32_t>(arena, 3 * SIMT_WARP);
    s.lists = simt_carve<uint16_t>(arena, 2 * tile_loop_shape<Tiles, AT_ONCE>::LISTED);
    s.waiting = simt_carve<uint32_t>(arena, AT_ONCE == 1 ? 0 : 2 * tile_loop_shape<Tiles, AT_ONCE>::WORKERS);
    return s;
}

/* ---- What is drawn together ---- */

static const uint32_t NO_TILE = UINT32_MAX;

/* Returns the first of the tiles. */
template <uint32_t AT_ONCE> TOPK_DEVICE uint32_t draw_tiles(const struct tile_sequence &sequence) {
    uint64_t tile = simt_atomic_add(sequence.ticket, (uint64_t)1) * AT_ONCE;
    return tile < sequence.tiles ? (uint32_t)tile : NO_TILE;
}

/* How many hits each tile has: 16 bits for each of two. */
template <uint32_t AT_ONCE> struct tile_counts {
    uint32_t packed;

    TOPK_MEMBER uint32_t of(uint32_t i) const {
        return AT_ONCE == 1 ? packed : packed >> 16 * i & 0xffff;
    }
    TOPK_MEMBER uint32_t sum(void) const {
        return AT_ONCE == 1 ? packed : of(0) + of(1);
    }
};

/* A thread's hits, and how many of each tile come before them in the warp. */
template <uint32_t AT_ONCE> struct tile_hits {
    uint32_t bits[AT_ONCE];
    tile_counts<AT_ONCE> before;

    /* Finds what comes before; returns what the warp has. All lanes. */
    TOPK_MEMBER uint32_t rank(void) {
        uint32_t mine = 0, of_warp;
#pragma unroll
        for (uint32_t i = 0; i < AT_ONCE; i++)
            mine += simt_popc(bits[i]) << 16 * i;
        before.packed = sum_of_lanes(mine, &of_warp);
        return of_warp;
    }
    TOPK_MEMBER struct ranked_bits of(uint32_t i) const {
        return ranked_bits{bits[i], before.of(i)};
    }
};

/* The first tiles of what a block has in hand, the furthest first. */
template <uint32_t AT_ONCE> struct tiles_in_hand {
    uint32_t next, tile, ranked, listed;
    tile_counts<AT_ONCE> counts; /* of what is listed */

    /* One turn further. */
    TOPK_MEMBER void pass(uint32_t drawn, tile_counts<AT_ONCE> counts_of_ranked) {
        listed = ranked;
        counts = counts_of_ranked;
        ranked = tile;
        tile = next;
        next = drawn;
    }
    TOPK_MEMBER bool is_over(void) const {
        return tile == NO_TILE && ranked == NO_TILE && listed == NO_TILE;
    }
};

/* ---- The loop ---- */

template <uint32_t WARPS> TOPK_DEVICE uint32_t sum_of_block(simt_shared<uint32_t> of_warps) {
    return simt_reduce_add(SIMT_ALL_LANES, simt_lane() < WARPS ? (uint32_t)of_warps[simt_lane()] : 0);
}

/* Lists a second tile that has had to wait; `turn` is that in which it was ranked. Workers. */
template <typename Tiles, uint32_t AT_ONCE>
TOPK_DEVICE void list_waiting(const struct tile_shared &s, simt_shared<uint16_t> list,
                              simt_shared<uint32_t> of_warps, uint32_t turn) {
    typedef tile_loop_shape<Tiles, AT_ONCE> shape;
    tile_counts<AT_ONCE> counts;
    uint32_t of_warp;
    const tile_counts<AT_ONCE> before = {sum_of_warps(of_warps, shape::WARPS, &counts.packed)};
    const struct ranked_bits ranked =
        rank_in_warp(s.waiting[turn * shape::WORKERS + simt_thread()], &of_warp);
    list_hits<Tiles::ITEMS>(list, ranked, before.of(AT_ONCE - 1),
                            counts.of(AT_ONCE - 1) > shape::SIZE / MANY_HITS);
}

/* All threads of all blocks of the launch. */
template <typename Tiles, uint32_t AT_ONCE = 1>
TOPK_DEVICE void run_tiles(const Tiles &tiles, const struct tile_sequence &sequence,
                           const struct tile_shared &s) {
    typedef tile_loop_shape<Tiles, AT_ONCE> shape;
    const uint32_t LISTED = shape::LISTED, MANY = shape::SIZE / MANY_HITS;
    const bool works = simt_thread() < shape::WORKERS, leads = simt_thread() == shape::WORKERS;
    if (leads)
        s.drawn[1] = draw_tiles<AT_ONCE>(sequence);
    simt_block_sync();
    tiles_in_hand<AT_ONCE> at = {NO_TILE, s.drawn[1], NO_TILE, NO_TILE, {0}};
    if (at.tile == NO_TILE)
        return;
    const auto exists = [&](uint32_t tile, uint32_t i) { return i == 0 || tile + i < sequence.tiles; };
    const auto exceeds_list = [&](tile_counts<AT_ONCE> counts) {
        return AT_ONCE == 2 && counts.sum() > LISTED && tiles.lists();
    };
    typename Tiles::raw raw[AT_ONCE] = {};
    tile_hits<AT_ONCE> hits = {}, ranked = {};
    const auto load = [&](uint32_t tile) {
#pragma unroll
        for (uint32_t i = 0; i < AT_ONCE; i++)
            if (exists(tile, i))
                tiles.load(tile + i, raw[i]);
    };
    if (works)
        load(at.tile);
    else if (leads)
        s.drawn[0] = draw_tiles<AT_ONCE>(sequence);
    simt_block_sync();
    at.next = s.drawn[0];
    if (leads)
        s.drawn[1] = draw_tiles<AT_ONCE>(sequence);
    uint32_t third = 0, ranked_third = 2; /* of `of_warps`; what is listed has the one between them */
    for (uint32_t turn = 1; !at.is_over(); turn ^= 1) {
        simt_shared<uint32_t> of_tile = simt_shared_part(s.of_warps, third * SIMT_WARP, SIMT_WARP),
                              of_ranked = simt_shared_part(s.of_warps, ranked_third * SIMT_WARP, SIMT_WARP);
        if (works && at.tile != NO_TILE) {
#pragma unroll
            for (uint32_t i = 0; i < AT_ONCE; i++)
                hits.bits[i] = exists(at.tile, i) ? tiles.hits(at.tile + i, raw[i]) : 0;
            if (at.next != NO_TILE)
                load(at.next);
            uint32_t of_warp = hits.rank();
            if (simt_lane() == 0)
                of_tile[simt_warp()] = of_warp;
        }
        simt_block_sync();
        simt_shared<uint16_t> list = simt_shared_part(s.lists, turn * LISTED, LISTED),
                              next_list = simt_shared_part(s.lists, (turn ^ 1) * LISTED, LISTED);
        const bool in_two = at.listed != NO_TILE && exceeds_list(at.counts);
        uint32_t drawn = s.drawn[turn];
        tile_counts<AT_ONCE> counts = {0};
        if (works) {
            if (at.listed != NO_TILE) {
                tiles.write(at.listed, list, s.bases[turn], at.counts.of(0));
                if (AT_ONCE == 2 && !in_two && exists(at.listed, 1))
                    tiles.write(at.listed + 1, simt_shared_part(list, at.counts.of(0), at.counts.of(1)),
                                s.bases[turn] + at.counts.of(0), at.counts.of(1));
            }
            if (at.ranked != NO_TILE) {
                tile_counts<AT_ONCE> before = {sum_of_warps(of_ranked, shape::WARPS, &counts.packed)};
                if (tiles.lists())
                    list_hits<Tiles::ITEMS>(next_list, ranked.of(0), before.of(0), counts.of(0) > MANY);
                if (exceeds_list(counts))
                    s.waiting[turn * shape::WORKERS + simt_thread()] = ranked.bits[AT_ONCE - 1];
                else if (AT_ONCE == 2 && tiles.lists())
                    list_hits<Tiles::ITEMS>(simt_shared_part(next_list, counts.of(0), counts.of(1)),
                                            ranked.of(1), before.of(1), counts.of(1) > MANY);
            }
            ranked = hits;
        } else {
            uint32_t fresh = leads && drawn != NO_TILE ? draw_tiles<AT_ONCE>(sequence) : NO_TILE;
            if (at.tile != NO_TILE) {
                const tile_counts<AT_ONCE> found = {sum_of_block<shape::WARPS>(of_tile)};
                if (leads)
                    publish_sum(sequence.words, at.tile / AT_ONCE, found.sum());
            }
            if (at.ranked != NO_TILE) {
                counts.packed = sum_of_block<shape::WARPS>(of_ranked);
                uint64_t base = look_back(sequence.words, at.ranked / AT_ONCE, counts.sum(),
                                          look_ahead(sequence.words, at.ranked / AT_ONCE));
                if (leads)
                    s.bases[turn ^ 1] = base;
            }
            if (leads)
                s.drawn[turn ^ 1] = fresh;
        }
        if (in_two) {
            simt_block_sync();
            if (works)
                list_waiting<Tiles, AT_ONCE>(
                    s, list,
                    simt_shared_part(s.of_warps, (third == 2 ? 0 : third + 1) * SIMT_WARP, SIMT_WARP),
                    turn ^ 1);
            simt_block_sync();
            if (works)
                tiles.write(at.listed + 1, list, s.bases[turn] + at.counts.of(0), at.counts.of(1));
        }
        at.pass(drawn, counts);
        ranked_third = third;
        third = third == 2 ? 0 : third + 1;
    }
}

#endif
