/* SPDX-License-Identifier: Apache-2.0
 * Ways from a filter to its sinks (select/sinks.cuh): one by one; in queues of each warp, for hits that are
 * rare; and through a write buffer of the block.
 *
 * In a step of the buffer each thread tests a few elements, so a step has BLOCK hits at most. The buffer has
 * room for twice as many, and is emptied only when more than BLOCK are in it: one atomic takes slots for so
 * many hits of a kind, and neighbouring threads write neighbouring slots. Winners fill it from its beginning,
 * candidates from its end. */
#ifndef TOPK_SRC_CUDA_RADIK_WRITE_BUFFER_CUH
#define TOPK_SRC_CUDA_RADIK_WRITE_BUFFER_CUH

#include "../select/candidates.cuh"
#include "../select/queued_filter.cuh"
#include "../select/target.cuh"
#include "kernels.h"

template <typename Element> struct write_buffer {
    simt_shared<Element> bits;
    simt_shared<uint32_t> offsets; /* positions, from that of the first element of the block's part */
    simt_shared<uint32_t> held;    /* winners, and candidates in the upper 16 bits; atomic */
    simt_shared<uint64_t> slots;   /* of the sinks: two */
};

/* Elements of a thread in a step, and of all threads. */
template <typename Element> struct buffer_step {
    static const uint32_t MOST = RADIK_STEP,
                          PER = tile_shape<Element>::PER < MOST ? tile_shape<Element>::PER : MOST,
                          BLOCK = RADIK_THREADS * PER;
};

template <typename Element> TOPK_HOST_DEVICE write_buffer<Element> carve_write_buffer(simt_arena &arena) {
    write_buffer<Element> b;
    b.slots = simt_carve<uint64_t>(arena, 2);
    b.bits = simt_carve<Element>(arena, 2 * buffer_step<Element>::BLOCK);
    b.offsets = simt_carve<uint32_t>(arena, 2 * buffer_step<Element>::BLOCK);
    b.held = simt_carve<uint32_t>(arena, 1);
    return b;
}

template <typename Element, typename Winners, typename Candidates> struct buffered_hits {
    hit_sinks<Winners, Candidates> sinks;
    write_buffer<Element> buffer;
    int64_t origin; /* of offsets */
};

/* The bits of element first + e of a tile, where `first` is a multiple of PER. Without a load, which would be
 * one of local memory. */
template <typename Element, uint32_t PER, typename Tile>
TOPK_DEVICE key_word_t<Element> bits_of_step(const Tile &tile, uint32_t first, uint32_t e) {
    key_word_t<Element> bits = 0;
#pragma unroll
    for (uint32_t i = 0; i < Tile::GROUPS * Tile::PER; i += PER)
        bits = i == first ? tile.bits((i + e) / Tile::PER, (i + e) % Tile::PER) : bits;
    return bits;
}

/* Empties the buffer, which holds so many. All threads; the buffer is empty behind the last barrier. */
template <typename Element, typename Winners, typename Candidates>
TOPK_DEVICE void empty_buffer(buffered_hits<Element, Winners, Candidates> &out, uint32_t winners,
                              uint32_t candidates) {
    const write_buffer<Element> &b = out.buffer;
    if (simt_warp() == 0) {
        const uint64_t first = out.sinks.winners.take(winners),
                       candidate = out.sinks.candidates.take(candidates);
        if (simt_lane() == 0) {
            b.slots[0] = first;
            b.slots[1] = candidate;
            b.held[0] = 0;
        }
    }
    simt_block_sync();
    const uint64_t first = b.slots[0], candidate = b.slots[1];
    for (uint32_t i = simt_thread(); i < winners; i += simt_threads())
        out.sinks.winners.put(first + i, (Element)b.bits[i], out.origin + (uint32_t)b.offsets[i]);
    for (uint32_t i = simt_thread(); i < candidates; i += simt_threads()) {
        const uint32_t at = 2 * buffer_step<Element>::BLOCK - 1 - i;
        out.sinks.candidates.put(candidate + i, (Element)b.bits[at], out.origin + (uint32_t)b.offsets[at]);
    }
    simt_block_sync();
}

/* Empties the buffer if more than a step is in it, or if it is the last time. All threads. */
template <typename Element, typename Winners, typename Candidates>
TOPK_DEVICE void empty_beyond(buffered_hits<Element, Winners, Candidates> &out, uint32_t most) {
    simt_block_sync();
    const uint32_t held = out.buffer.held[0], winners = held & 0xffff, candidates = held >> 16;
    simt_block_sync();
    if (winners + candidates > most)
        empty_buffer(out, winners, candidates);
}

/* Filters a tile. All threads of the block. */
template <typename Element, typename Tile, typename Winners, typename Candidates>
TOPK_DEVICE void filter_tile(const Tile &tile, const code_range<Element> &range,
                             buffered_hits<Element, Winners, Candidates> &out) {
    const uint32_t MOST = buffer_step<Element>::PER, PER = Tile::PER < MOST ? Tile::PER : MOST,
                   ITEMS = Tile::GROUPS * Tile::PER;
    const write_buffer<Element> &b = out.buffer;
    const uint32_t hits = find_hits<Element>(tile, range), wins = find_winners<Element>(tile, range, hits);
#pragma unroll 1
    for (uint32_t first = 0; first < ITEMS; first += PER) {
        const uint32_t winners = wins >> first & ((1u << PER) - 1),
                       candidates = (hits & ~wins) >> first & ((1u << PER) - 1);
        uint32_t all, before = warp_scan(simt_popc(winners) | simt_popc(candidates) << 16, &all), base = 0;
        if (simt_lane() == 0 && all != 0)
            base = simt_atomic_add(&b.held[0], all);
        before += simt_shuffle(SIMT_ALL_LANES, base, 0);
        uint32_t slot = before & 0xffff, end = 2 * buffer_step<Element>::BLOCK - 1 - (before >> 16);
#pragma unroll
        for (uint32_t e = 0; e < PER; e++) {
            const uint32_t item = first + e, at = winners >> e & 1 ? slot++ : end;
            if (((winners | candidates) >> e & 1) != 0) {
                b.bits[at] = (Element)bits_of_step<Element, PER>(tile, first, e);
                b.offsets[at] = (uint32_t)(tile.position(item / Tile::PER, item % Tile::PER) - out.origin);
            }
            end -= candidates >> e & 1;
        }
        empty_beyond(out, buffer_step<Element>::BLOCK);
    }
}

template <typename Element, typename Winners, typename Candidates>
TOPK_DEVICE void drain(buffered_hits<Element, Winners, Candidates> &out) {
    empty_beyond(out, 0);
}

/* Hits that go to their sinks one by one, each with an atomic of its own. */
template <typename Winners, typename Candidates> struct single_hits { hit_sinks<Winners, Candidates> sinks; };

template <typename Sink, typename Word>
TOPK_DEVICE void put_single(const Sink &sink, Word bits, int64_t position) {
    sink.put(simt_atomic_add(sink.counter, (uint64_t)1), bits, position);
}

template <typename Element, typename Tile, typename Winners, typename Candidates>
TOPK_DEVICE void filter_tile(const Tile &tile, const code_range<Element> &range,
                             single_hits<Winners, Candidates> &out) {
    uint32_t hits = find_hits<Element>(tile, range);
    const uint32_t winners = find_winners<Element>(tile, range, hits);
    for (; hits != 0; hits &= hits - 1) {
        const uint32_t item = simt_ffs(hits) - 1;
        const key_word_t<Element> bits = bits_of_item<Element>(tile, item);
        const int64_t position = tile.position(item / Tile::PER, item % Tile::PER);
        if ((winners >> item & 1) != 0)
            put_single(out.sinks.winners, bits, position);
        else
            put_single(out.sinks.candidates, bits, position);
    }
}

template <typename Winners, typename Candidates> TOPK_DEVICE void drain(single_hits<Winners, Candidates> &) {
}

#endif
