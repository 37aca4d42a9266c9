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

template <typename Tiles> struct tile_loop_shape {
    static const uint32_t WORKERS = Tiles::THREADS - SIMT_WARP, WARPS = WORKERS / SIMT_WARP,
                          SIZE = WORKERS * Tiles::ITEMS;
    static_assert(Tiles::THREADS % SIMT_WARP == 0 && Tiles::THREADS >= 64 && Tiles::THREADS <= 1024,
                  "a block is of whole warps, one of which looks back");
    static_assert(SIZE <= 1 << 16 && Tiles::ITEMS <= 32, "places have 16 bits, and hits 32");
};

/* What one turn hands to the next ones. Each has a place for every turn until it is read for the last time.
 */
struct tile_shared {
    simt_shared<uint64_t> bases;    /* 2: results before a tile */
    simt_shared<uint32_t> drawn;    /* 2: a tile */
    simt_shared<uint32_t> of_warps; /* 3: hits of each warp */
    simt_shared<uint16_t> lists;    /* 2: places of hits */
};

template <typename Tiles> TOPK_HOST_DEVICE struct tile_shared carve_tiles(simt_arena &arena) {
    struct tile_shared s = {};
    s.bases = simt_carve<uint64_t>(arena, 2);
    s.drawn = simt_carve<uint32_t>(arena, 2);
    s.of_warps = simt_carve<uint32_t>(arena, 3 * SIMT_WARP);
    s.lists = simt_carve<uint16_t>(arena, 2 * tile_loop_shape<Tiles>::SIZE);
    return s;
}

static const uint32_t NO_TILE = UINT32_MAX;

/* The tiles that a block has in hand, the furthest first. */
struct tiles_in_hand {
    uint32_t next, tile, ranked, listed, listed_count;

    /* One turn further. */
    TOPK_MEMBER void pass(uint32_t drawn, uint32_t count) {
        listed = ranked;
        listed_count = count;
        ranked = tile;
        tile = next;
        next = drawn;
    }
    TOPK_MEMBER bool is_over(void) const {
        return tile == NO_TILE && ranked == NO_TILE && listed == NO_TILE;
    }
};

TOPK_DEVICE uint32_t draw_tile(const struct tile_sequence &sequence) {
    uint64_t tile = simt_atomic_add(sequence.ticket, (uint64_t)1);
    return tile < sequence.tiles ? (uint32_t)tile : NO_TILE;
}

template <uint32_t WARPS> TOPK_DEVICE uint32_t sum_of_tile(simt_shared<uint32_t> of_warps) {
    return simt_reduce_add(SIMT_ALL_LANES, simt_lane() < WARPS ? (uint32_t)of_warps[simt_lane()] : 0);
}

/* All threads of all blocks of the launch. */
template <typename Tiles>
TOPK_DEVICE void run_tiles(const Tiles &tiles, const struct tile_sequence &sequence,
                           const struct tile_shared &s) {
    typedef tile_loop_shape<Tiles> shape;
    const uint32_t size = shape::SIZE;
    const bool works = simt_thread() < shape::WORKERS, leads = simt_thread() == shape::WORKERS;
    if (leads)
        s.drawn[1] = draw_tile(sequence);
    simt_block_sync();
    struct tiles_in_hand at = {NO_TILE, s.drawn[1], NO_TILE, NO_TILE, 0};
    if (at.tile == NO_TILE)
        return;
    typename Tiles::raw raw = {};
    struct ranked_bits hits = {}, ranked = {};
    if (works)
        tiles.load(at.tile, raw);
    else if (leads)
        s.drawn[0] = draw_tile(sequence);
    simt_block_sync();
    at.next = s.drawn[0];
    if (leads)
        s.drawn[1] = draw_tile(sequence);
    uint32_t third = 0, ranked_third = 0;
    for (uint32_t turn = 1; !at.is_over(); turn ^= 1) {
        if (works && at.tile != NO_TILE) {
            uint32_t of_warp, bits = tiles.hits(at.tile, raw);
            if (at.next != NO_TILE)
                tiles.load(at.next, raw);
            hits = rank_in_warp(bits, &of_warp);
            if (simt_lane() == 0)
                s.of_warps[third * SIMT_WARP + simt_warp()] = of_warp;
        }
        simt_block_sync();
        simt_shared<uint32_t> of_ranked = simt_shared_part(s.of_warps, ranked_third * SIMT_WARP, SIMT_WARP);
        uint32_t count = 0, drawn = s.drawn[turn];
        if (works) {
            if (at.listed != NO_TILE)
                tiles.write(at.listed, simt_shared_part(s.lists, turn * size, size), s.bases[turn],
                            at.listed_count);
            if (at.ranked != NO_TILE) {
                uint32_t before = sum_of_warps(of_ranked, shape::WARPS, &count);
                if (tiles.lists())
                    list_hits<Tiles::ITEMS>(simt_shared_part(s.lists, (turn ^ 1) * size, size), ranked,
                                            before, count > size / MANY_HITS);
            }
            ranked = hits;
        } else {
            uint32_t fresh = leads && drawn != NO_TILE ? draw_tile(sequence) : NO_TILE;
            if (at.tile != NO_TILE) {
                uint32_t sum =
                    sum_of_tile<shape::WARPS>(simt_shared_part(s.of_warps, third * SIMT_WARP, SIMT_WARP));
                if (leads)
                    publish_sum(sequence.words, at.tile, sum);
            }
            if (at.ranked != NO_TILE) {
                uint64_t base = look_back(sequence.words, at.ranked, sum_of_tile<shape::WARPS>(of_ranked),
                                          look_ahead(sequence.words, at.ranked));
                if (leads)
                    s.bases[turn ^ 1] = base;
            }
            if (leads)
                s.drawn[turn ^ 1] = fresh;
        }
        at.pass(drawn, count);
        ranked_third = third;
        third = third == 2 ? 0 : third + 1;
    }
}

#endif
