/* SPDX-License-Identifier: Apache-2.0
 * A block's part of a row: tile after tile, through the rings of its warps. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_PART_CUH
#define TOPK_SRC_CUDA_GRIDSELECT_PART_CUH

#include "wanted.cuh"

/* The order in which blocks visit the tiles of a row: fewer than 2^31, since memory holds no more. A hash
 * permutes the numbers below a power of two, and hashes again what is no tile's number. */
struct tile_order {
    uint32_t tiles;
    uint32_t bits; /* 0: the order of positions */
    uint32_t seed;

    static TOPK_MEMBER tile_order of(const struct gridselect_args &a, uint32_t tiles) {
        const bool is_hashed = a.is_hashed && tiles > 2;
        return tile_order{tiles, is_hashed ? 32 - simt_clz(tiles - 1) : 0, (uint32_t)a.seed};
    }
    TOPK_MEMBER uint32_t at(uint32_t turn) const {
        if (bits == 0)
            return turn;
        const uint32_t mask = (1u << bits) - 1, half = (bits + 1) / 2;
        uint32_t place = turn;
        do {
            place = (place + seed) * 0x9e3779b1u & mask;
            place = (place ^ place >> half) * 0x85ebca77u & mask;
            place ^= place >> half;
        } while (place >= tiles);
        return place;
    }
};

/* What a warp reads of a row: in each turn of its block its part of a tile, which fills a slot of its ring.
 * Of the row's last tile it may have less, or nothing. */
template <typename Element> struct part_reader {
    typedef typename tile_ring<Element>::rings tile_rings;
    static const uint32_t SLOT = tile_rings::GROUPS_OF_SLOT, PER = tile_shape<Element>::PER;
    const tile_rings &rings;
    struct ring_turns turns;
    const simt_u32x4 *from; /* the warp's part of tile 0 */
    uint32_t head;          /* elements before the body */
    uint32_t edges;         /* elements before and behind it */
    struct tile_order order;
    uint32_t of_last;   /* the warp's groups in the last tile */
    uint32_t last_turn; /* the turn of the last tile, once its copy has begun; all ones before */

    static TOPK_MEMBER part_reader of(const struct gridselect_args &a, const struct row &r,
                                      const tile_rings &rings, const struct ring_turns &turns) {
        const Element *values = row_values<Element>(a.rows, r);
        const struct row_parts parts = parts_of(values, r.length);
        const uint32_t tiles = tile_ring<Element>::count(parts);
        return part_reader{rings,
                           turns,
                           (const simt_u32x4 *)(values + parts.head) + simt_warp() * SLOT,
                           parts.head,
                           parts.head + parts.tail,
                           tile_order::of(a, tiles),
                           groups_of_warp<Element>(parts, first_group<Element>((int64_t)tiles - 1)),
                           ~0u};
    }
    /* Fills the ring. All lanes, which have left the row before. */
    TOPK_MEMBER void begin(void) {
#pragma unroll 1
        for (uint32_t slot = 0; slot < rings.given; slot++)
            copy(simt_block() + slot * simt_blocks());
    }
    /* Waits for the warp's part of a tile. Returns where it begins in the ring. All lanes. */
    TOPK_MEMBER uint32_t wait(uint32_t turn) {
        return turn != last_turn || of_last > 0 ? rings.take(&turns) : 0;
    }
    /* All groups of the lane. The tile's number, which takes a hash, is not needed for that. */
    TOPK_MEMBER bool is_whole(uint32_t turn) const {
        return turn != last_turn;
    }
    TOPK_MEMBER body_tile<Element> read_whole(uint32_t first) const {
        return tile_ring<Element>::read(rings,
                                        tile_place{first + simt_lane(), tile_shape<Element>::GROUPS, 0});
    }
    TOPK_MEMBER struct tile_place place_of(uint32_t turn, uint32_t first) const {
        const uint32_t here = is_whole(turn) ? SLOT : of_last;
        const int64_t group = ((int64_t)order.at(turn) * simt_warps() + simt_warp()) * SLOT + simt_lane();
        return tile_place{first + simt_lane(), (here + SIMT_WARP - 1 - simt_lane()) / SIMT_WARP,
                          head + group * PER};
    }
    /* All lanes, which have left the tile of this turn: the slot is filled again. */
    TOPK_MEMBER void leave(uint32_t turn) {
        simt_warp_sync(SIMT_ALL_LANES);
        copy(turn + rings.given * simt_blocks());
    }

  private:
    TOPK_MEMBER void copy(uint32_t turn) {
        if (turn >= order.tiles)
            return;
        const uint32_t tile = order.at(turn), is_last = tile == order.tiles - 1;
        last_turn = is_last ? turn : last_turn;
        const uint32_t count = is_last ? of_last : SLOT;
        if (count > 0)
            rings.copy(&turns, from + (uint64_t)tile * (simt_warps() * SLOT), count);
    }
};

/* How a warp follows the bound that other blocks know. Each warp of a block asks for it now and then, and
 * hears of it in its next turn. */
struct listener {
    uint32_t turns; /* until the warp asks */
    uint64_t answer;

    static TOPK_MEMBER listener of_warp(void) {
        return listener{simt_warp(), ~(uint64_t)0};
    }
    /* `of_block`: what the block knows. All lanes. */
    template <bool TWO>
    TOPK_MEMBER void listen(const struct gridselect_args &a, int64_t row, uint64_t of_block,
                            const warp_selection<TWO> &s) {
        if (turns == simt_warps()) {
            if (answer < of_block)
                s.tell_block(answer);
            if (of_block < answer && simt_lane() == 0)
                simt_atomic_max(&a.shared.bounds[row], ~of_block);
        }
        if (turns == 0)
            answer = known_bound(a, row);
        turns = turns == 0 ? simt_warps() : turns - 1;
    }
};

/* How the block begins with a row: see push_tile(). */
template <bool TWO>
TOPK_DEVICE struct opening opening_of(const struct gridselect_args &a, uint32_t tiles,
                                      const warp_selection<TWO> &s) {
    const uint32_t rounds = (s.part_of_k + SIMT_WARP - 1) / SIMT_WARP;
    return opening{a.part > 0                     ? 1
                   : rounds <= GRIDSELECT_OPENING ? rounds
                                                  : 0,
                   tiles < simt_blocks() ? tiles : simt_blocks()};
}

/* Selects from the block's part of a row, whose first tiles are on their way. All threads. */
template <typename Element, bool TWO>
TOPK_DEVICE void select_part(const struct gridselect_args &a, int64_t row, part_reader<Element> *reader,
                             warp_selection<TWO> *s) {
    const uint32_t tiles = reader->order.tiles, first = simt_block();
    near_bound<Element> near = near_bound<Element>::of(a.rows.map, &a.predicate);
    bool is_new = true; /* the bound, to `near` */
    struct listener listener = listener::of_warp();
    uint32_t meeting =
        first + GRIDSELECT_MEETING * simt_blocks(); /* the turn after which blocks meet again */
    if (first == 0 && simt_warp() == 0 && reader->edges > 0)
        s->resume(push_tile<Element, TWO>(a, row, s->state(), place_of_edges(), opening{0, 0}));
#pragma unroll 1
    for (uint32_t turn = first; turn < tiles; turn += simt_blocks()) {
        const bool opens = turn == first;
        const uint64_t of_block = s->known_by_block();
        if (of_block < s->bound.high) {
            s->tighten(of_block);
            is_new = true;
        }
        if (is_new)
            near.from.begin_at(key_of_entry<Element, TWO>(s->bound));
        is_new = false;
        if (simt_blocks() > 1)
            listener.listen(a, row, of_block, *s);
        const uint32_t place = reader->wait(turn);
        if (opens || !reader->is_whole(turn) ||
            simt_any(SIMT_ALL_LANES, near.any_of(reader->read_whole(place)))) {
            s->resume(push_tile<Element, TWO>(a, row, s->state(), reader->place_of(turn, place),
                                              opens ? opening_of(a, tiles, *s) : opening{0, 0}));
            is_new = true;
        }
        reader->leave(turn);
        if (turn == meeting && a.part > 0 && turn + simt_blocks() < tiles) {
            meet<TWO>(a, row, s->state(), 0);
            meeting = turn + GRIDSELECT_MEETING * (turn - first + simt_blocks());
        }
    }
    s->merge_queue();
}

#endif
