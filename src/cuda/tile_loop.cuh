/* SPDX-License-Identifier: Apache-2.0
 * Stream compaction in one pass: tile after tile, in order, with decoupled look-back.
 *
 * A block has several tiles in hand, so that it never waits for long. A tile goes through these turns, each
 * ended by a barrier:
 *
 *   its loads are in flight
 *   each warp ranks its hits and issues the loads of the next tile
 *   the last warp publishes its sum
 *   the other warps, the workers, list its hits; the last warp looks back for what comes before the tile
 *   the workers write its results
 *
 * Blocks draw one tile a turn, in order, and finish their own tiles in order: no tile is waited for in vain.
 * A block publishes the sums of two tiles before it waits for what comes before the first. Otherwise blocks
 * with neighbouring tiles would wait for one another, each for the one before it. */
#ifndef TOPK_SRC_CUDA_TILE_LOOP_CUH
#define TOPK_SRC_CUDA_TILE_LOOP_CUH

#include "lookback.cuh"
#include "ordered.cuh"

/* `Tiles` says what to do, by these members:
 *
 *   THREADS  of the block: a multiple of 32, 64 to 1024
 *   ITEMS    elements for each worker, at most 32. The workers are the first THREADS - 32 threads: a tile has
 *            ITEMS * (THREADS - 32) elements, at most 2^16
 *   raw      what a worker loads of a tile
 *   void load(tile, raw &) const
 *            the worker's part. Also called for tiles ahead: may issue loads, must not use their results
 *   uint32_t hits(tile, const raw &) const
 *            bit i is for the element at offset simt_thread() * ITEMS + i. All lanes of a warp
 *   ranked   what rank_bits() makes of hits: struct ranked_bits
 *   void write(tile, offsets, base, count) const
 *            writes `count` hits behind `base` others. If lists(), offsets[0 .. count - 1] are the hits', in
 *            order. Workers; no barrier inside
 *   bool lists() const
 *            whether write() wants the offsets; alike in all threads
 *
 * Hits may be of two kinds: then hits() gives struct paired_bits, `ranked` is struct ranked_pair, and each
 * count has the first kind in its lower half. The offsets of the first kind are listed before the other's. */

static const uint32_t NO_TILE = UINT32_MAX;

/* The tiles of a launch, and how far it has come, in global memory. Another `Sequence` offers the same
 * functions. */
struct tile_sequence {
    uint64_t *ticket;       /* zero before the launch */
    struct sum_words words; /* for at least as many tiles */
    uint32_t tiles;

    /* The next tile, or NO_TILE. One thread. */
    TOPK_MEMBER uint32_t draw(void) const {
        const uint64_t tile = simt_atomic_add(ticket, (uint64_t)1);
        return tile < tiles ? (uint32_t)tile : NO_TILE;
    }
    /* Publishes the sum of a tile. One thread. */
    TOPK_MEMBER void publish(uint32_t tile, uint32_t sum) const {
        publish_sum(words, tile, sum);
    }
    /* The sum of all tiles before this one, whose own sum has been published. All lanes. */
    TOPK_MEMBER uint64_t before(uint32_t tile, uint32_t sum) const {
        return look_back(words, tile, sum, look_ahead(words, tile));
    }
};

/* ---- Hits of two kinds ---- */

struct paired_bits {
    uint32_t first, second;
};

struct ranked_pair {
    struct ranked_bits first, second;
};

static const uint32_t SECOND_KIND_SHIFT = 16, FIRST_KIND = (1u << SECOND_KIND_SHIFT) - 1;

/* All lanes. */
TOPK_DEVICE struct ranked_pair rank_bits(const struct paired_bits &bits, uint32_t *count) {
    const uint32_t counts = simt_popc(bits.first) | simt_popc(bits.second) << SECOND_KIND_SHIFT,
                   ranks = warp_scan(counts, count);
    return ranked_pair{{bits.first, ranks & FIRST_KIND}, {bits.second, ranks >> SECOND_KIND_SHIFT}};
}

/* Lists a tile's `count` hits, `before` of them from earlier warps. All lanes. */
template <typename Tiles>
TOPK_DEVICE void list_ranked(simt_shared<uint16_t> list, const struct ranked_bits &ranked, uint32_t before,
                             uint32_t count) {
    const uint32_t size = (Tiles::THREADS - SIMT_WARP) * Tiles::ITEMS;
    list_hits<Tiles::ITEMS>(list, ranked, before, count > size / MANY_HITS);
}

template <typename Tiles>
TOPK_DEVICE void list_ranked(simt_shared<uint16_t> list, const struct ranked_pair &ranked, uint32_t before,
                             uint32_t count) {
    const uint32_t of_first = count & FIRST_KIND, of_second = count >> SECOND_KIND_SHIFT;
    list_ranked<Tiles>(list, ranked.first, before & FIRST_KIND, of_first);
    if (of_second != 0)
        list_ranked<Tiles>(list, ranked.second, of_first + (before >> SECOND_KIND_SHIFT), of_second);
}

/* ---- Groups at the ends of a row ---- */

/* The elements of a group of 16 bytes that a row of `length` elements has; zeros for the others. `first` is
 * the position of the group's first one, maybe before the row. */
template <typename Element>
TOPK_DEVICE simt_u32x4 load_within(const Element *values, int64_t first, int64_t length) {
    const uint32_t of_word = sizeof(Element) < 4 ? 4 / sizeof(Element) : 1;
    uint32_t words[4] = {};
#pragma unroll
    for (uint32_t i = 0; i < 16 / sizeof(Element); i++) {
        if (first + i < 0 || first + i >= length)
            continue;
        const uint64_t bits = (uint64_t)simt_load_read_only(values + first + i);
        words[i * sizeof(Element) / 4] |= (uint32_t)bits << i % of_word * 8 * sizeof(Element);
        if (sizeof(Element) == 8)
            words[i * 2 + 1] = (uint32_t)(bits >> 32);
    }
    return simt_u32x4{words[0], words[1], words[2], words[3]};
}

/* A bit for each of PER elements that come before `end`. */
template <uint32_t PER> TOPK_DEVICE uint32_t bits_below(int64_t end) {
    return end <= 0 ? 0 : low_bits(end < PER ? (uint32_t)end : PER);
}

/* ---- The loop ---- */

template <typename Tiles> struct tile_loop_shape {
    static const uint32_t WORKERS = Tiles::THREADS - SIMT_WARP, WARPS = WORKERS / SIMT_WARP,
                          SIZE = WORKERS * Tiles::ITEMS;
    static_assert(Tiles::THREADS % SIMT_WARP == 0 && Tiles::THREADS >= 64 && Tiles::THREADS <= 1024,
                  "a block is of whole warps, one of which looks back");
    static_assert(SIZE <= 1 << 16 && Tiles::ITEMS <= 32, "offsets have 16 bits, and hits 32");

    /* What rank_bits() makes of the bits that hits() returns. */
    static const Tiles *any(void);
    typedef decltype(rank_bits(any()->hits(0, typename Tiles::raw()), nullptr)) ranked;
};

/* What one turn hands to later ones. Each array is for as many turns as its data is needed. */
struct tile_shared {
    simt_shared<uint64_t> bases;    /* 2: results before a tile */
    simt_shared<uint32_t> drawn;    /* 2: a tile */
    simt_shared<uint32_t> of_warps; /* 3: hits of each warp */
    simt_shared<uint16_t> lists;    /* 2: offsets of hits */
};

template <typename Tiles> TOPK_HOST_DEVICE struct tile_shared carve_tiles(simt_arena &arena) {
    struct tile_shared s = {};
    s.bases = simt_carve<uint64_t>(arena, 2);
    s.drawn = simt_carve<uint32_t>(arena, 2);
    s.of_warps = simt_carve<uint32_t>(arena, 3 * SIMT_WARP);
    s.lists = simt_carve<uint16_t>(arena, 2 * tile_loop_shape<Tiles>::SIZE);
    return s;
}

/* The tiles that a block has in hand, the furthest first. */
struct tiles_in_hand {
    uint32_t next, tile, ranked, listed, listed_count;

    /* To the next turn. */
    TOPK_MEMBER void advance(uint32_t drawn, uint32_t count) {
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

template <uint32_t WARPS> TOPK_DEVICE uint32_t sum_of_tile(simt_shared<uint32_t> of_warps) {
    return simt_reduce_add(SIMT_ALL_LANES, simt_lane() < WARPS ? (uint32_t)of_warps[simt_lane()] : 0);
}

/* The workers' part of a turn, behind the barrier: writes a tile and lists the next one, whose hits are
 * `ranked`. Returns how many hits that has. */
template <typename Tiles>
TOPK_DEVICE uint32_t write_and_list(const Tiles &tiles, const struct tile_shared &s,
                                    const struct tiles_in_hand &hand, uint32_t turn,
                                    const typename tile_loop_shape<Tiles>::ranked &ranked,
                                    simt_shared<uint32_t> of_ranked) {
    typedef tile_loop_shape<Tiles> shape;
    const uint32_t size = shape::SIZE;
    uint32_t count = 0;
    if (hand.listed != NO_TILE)
        tiles.write(hand.listed, simt_shared_part(s.lists, turn * size, size), s.bases[turn],
                    hand.listed_count);
    if (hand.ranked != NO_TILE) {
        uint32_t before = prefix_of_warp(of_ranked, shape::WARPS, &count);
        if (tiles.lists())
            list_ranked<Tiles>(simt_shared_part(s.lists, (turn ^ 1) * size, size), ranked, before, count);
    }
    return count;
}

/* The last warp's part: draws a tile, publishes the sum of one and looks back from the one before it. */
template <uint32_t WARPS, typename Sequence>
TOPK_DEVICE void publish_and_look_back(const Sequence &sequence, const struct tile_shared &s,
                                       const struct tiles_in_hand &hand, uint32_t turn, uint32_t drawn,
                                       simt_shared<uint32_t> of_tile, simt_shared<uint32_t> of_ranked) {
    const bool leads = simt_thread() == WARPS * SIMT_WARP;
    uint32_t fresh = leads && drawn != NO_TILE ? sequence.draw() : NO_TILE;
    if (hand.tile != NO_TILE) {
        uint32_t sum = sum_of_tile<WARPS>(of_tile);
        if (leads)
            sequence.publish(hand.tile, sum);
    }
    if (hand.ranked != NO_TILE) {
        uint64_t base = sequence.before(hand.ranked, sum_of_tile<WARPS>(of_ranked));
        if (leads)
            s.bases[turn ^ 1] = base;
    }
    if (leads)
        s.drawn[turn ^ 1] = fresh;
}

/* All threads of all blocks of the launch. */
template <typename Tiles, typename Sequence>
TOPK_DEVICE void run_tiles(const Tiles &tiles, const Sequence &sequence, const struct tile_shared &s) {
    typedef tile_loop_shape<Tiles> shape;
    const bool works = simt_thread() < shape::WORKERS, leads = simt_thread() == shape::WORKERS;
    if (leads)
        s.drawn[1] = sequence.draw();
    simt_block_sync();
    struct tiles_in_hand hand = {NO_TILE, s.drawn[1], NO_TILE, NO_TILE, 0};
    if (hand.tile == NO_TILE)
        return;
    typename Tiles::raw raw = {};
    typename shape::ranked hits = {}, ranked = {};
    if (works)
        tiles.load(hand.tile, raw);
    else if (leads)
        s.drawn[0] = sequence.draw();
    simt_block_sync();
    hand.next = s.drawn[0];
    if (leads)
        s.drawn[1] = sequence.draw();
    uint32_t third = 0, ranked_third = 0;
    for (uint32_t turn = 1; !hand.is_over(); turn ^= 1) {
        simt_shared<uint32_t> of_tile = simt_shared_part(s.of_warps, third * SIMT_WARP, SIMT_WARP),
                              of_ranked = simt_shared_part(s.of_warps, ranked_third * SIMT_WARP, SIMT_WARP);
        if (works && hand.tile != NO_TILE) {
            uint32_t of_warp;
            const auto bits = tiles.hits(hand.tile, raw);
            if (hand.next != NO_TILE)
                tiles.load(hand.next, raw);
            hits = rank_bits(bits, &of_warp);
            if (simt_lane() == 0)
                of_tile[simt_warp()] = of_warp;
        }
        simt_block_sync();
        uint32_t count = 0, drawn = s.drawn[turn];
        if (works) {
            count = write_and_list(tiles, s, hand, turn, ranked, of_ranked);
            ranked = hits;
        } else {
            publish_and_look_back<shape::WARPS>(sequence, s, hand, turn, drawn, of_tile, of_ranked);
        }
        hand.advance(drawn, count);
        ranked_third = third;
        third = third == 2 ? 0 : third + 1;
    }
}

#endif
