/* SPDX-License-Identifier: Apache-2.0
 * Counting a digit of a row. A block counts its tiles in shared memory, and adds what it has to the counters
 * at the end of the row. Keys that are to be kept take slots of the row's list, a tile at a time. */
#ifndef TOPK_SRC_CUDA_SHARDED_COUNT_CUH
#define TOPK_SRC_CUDA_SHARDED_COUNT_CUH

#include "../predicate/source.cuh"
#include "kernels.h"

struct count_shared {
    simt_shared<uint32_t> bins;  /* bins x SHARDED_COPIES */
    simt_shared<uint32_t> sums;  /* of each warp */
    simt_shared<uint64_t> first; /* slot of a tile's keys */
};

TOPK_HOST_DEVICE count_shared carve_count(simt_arena &arena, uint32_t bins) {
    count_shared s;
    s.first = simt_carve<uint64_t>(arena, 1);
    s.bins = simt_carve<uint32_t>(arena, bins * SHARDED_COPIES);
    s.sums = simt_carve<uint32_t>(arena, SIMT_WARP);
    return s;
}

TOPK_DEVICE bool is_begun(const struct sharded_args &a) {
    return a.header->magic == SHARDED_MAGIC && a.header->problem == a.problem;
}

/* What a block reads, and where it counts. KEPT: elements are keys. */
template <typename Element, bool FIRST, bool KEPT> struct interval {
    typedef key_word_t<Element> word;
    const struct sharded_args &a;
    const count_shared &s;
    word low, span;
    Element *list; /* where keys are kept, and how many have room; NULL: they are not */
    int64_t room;
    uint64_t *filled;

    TOPK_MEMBER word key(word bits) const {
        if (KEPT)
            return bits;
        const word code = code_of<Element>(bits, a.rows.map);
        /* The codes of zero differ in the last bit. */
        return FIRST && a.shift != 0 ? code : key_of_code<Element>(code, a.rows.map);
    }
    TOPK_MEMBER bool holds(word key) const {
        return FIRST || (word)(key - low) <= span;
    }
    TOPK_MEMBER void count(word key) const {
        const uint32_t bin = (uint32_t)((word)(key - low) >> a.shift) & a.mask;
        simt_atomic_add(&s.bins[bin * SHARDED_COPIES + simt_lane() % SHARDED_COPIES], 1u);
    }
};

/* Takes slots for a tile's keys. All threads. */
template <typename Interval> TOPK_DEVICE int64_t take_slots(const Interval &in, uint32_t hits) {
    uint32_t total;
    simt_block_sync(); /* the slot of the tile before has been read */
    const uint32_t before = block_scan(in.s.sums, hits, &total);
    if (simt_thread() == 0)
        in.s.first[0] = total == 0 ? (uint64_t)0 : simt_atomic_add(in.filled, (uint64_t)total);
    simt_block_sync();
    return (int64_t)(uint64_t)in.s.first[0] + before;
}

/* All threads. */
template <typename Element, typename Interval, typename Tile>
TOPK_DEVICE void count_tested(const Interval &in, const Tile &tile) {
    uint32_t hits = 0;
#pragma unroll
    for (uint32_t g = 0; g < Tile::GROUPS; g++) {
        if (!tile.valid(g))
            continue;
#pragma unroll
        for (uint32_t e = 0; e < Tile::PER; e++) {
            const key_word_t<Element> key = in.key(tile.bits(g, e));
            if (in.holds(key) && is_match(tile, g, e)) {
                in.count(key);
                hits++;
            }
        }
    }
    if (in.list == nullptr)
        return;
    int64_t slot = take_slots(in, hits);
#pragma unroll
    for (uint32_t g = 0; g < Tile::GROUPS; g++) {
        if (!tile.valid(g))
            continue;
#pragma unroll
        for (uint32_t e = 0; e < Tile::PER; e++) {
            const key_word_t<Element> key = in.key(tile.bits(g, e));
            if (in.holds(key) && is_match(tile, g, e)) {
                if (slot < in.room)
                    in.list[slot] = (Element)key;
                slot++;
            }
        }
    }
}

template <typename Element, typename Interval, typename Tile>
TOPK_DEVICE void count_tile(const Interval &in, const Tile &tile) {
    branch_once(tile, [&](const auto &tested) TOPK_LAMBDA { count_tested<Element>(in, tested); });
}

TOPK_DEVICE void clear_tables(const struct sharded_args &a, const count_shared &s) {
    for (uint32_t i = simt_thread(); i < a.bins * SHARDED_COPIES; i += simt_threads())
        s.bins[i] = 0;
    simt_block_sync();
}

/* Adds the block's bins to the row's, and clears them. */
TOPK_DEVICE void add_tables(const struct sharded_args &a, const count_shared &s, int64_t row) {
    simt_block_sync();
    for (uint32_t bin = simt_thread(); bin <= a.mask; bin += simt_threads()) {
        uint64_t sum = 0;
#pragma unroll
        for (uint32_t c = 0; c < SHARDED_COPIES; c++)
            sum += (uint32_t)s.bins[bin * SHARDED_COPIES + c];
        if (sum != 0) {
            simt_atomic_add(&a.own[row * a.bins + bin], sum);
            simt_atomic_add(&a.counters[row * a.bins + bin], sum);
        }
    }
    simt_block_sync();
    clear_tables(a, s);
}

/* What was kept, as a source like a row (predicate/source.cuh). */
template <typename Element> struct kept_source {
    const Element *list;
    TOPK_MEMBER const Element *values(void) const {
        return list;
    }
    TOPK_MEMBER body_tile<Element> fetch(const struct row_parts &parts, int64_t tile) const {
        return load_body(list, parts, tile);
    }
    TOPK_MEMBER const body_tile<Element> &test(const body_tile<Element> &tile) const {
        return tile;
    }
    TOPK_MEMBER edge_tile<Element> head(const struct row_parts &parts) const {
        return load_head(list, parts);
    }
    TOPK_MEMBER edge_tile<Element> tail(const struct row_parts &parts) const {
        return load_tail(list, parts);
    }
};

template <typename Element, typename Interval, typename Source>
TOPK_DEVICE void count_elements(const Interval &in, const Source &source, int64_t length, int64_t row) {
    const struct row_parts parts = parts_of(source.values(), length);
    const int64_t tiles = tiles_of<Element>(parts);
    int64_t run = 0;
    if (simt_block() == 0) {
        count_tile<Element>(in, source.head(parts));
        count_tile<Element>(in, source.tail(parts));
    }
    for (int64_t tile = simt_block(); tile < tiles; tile += simt_blocks()) {
        count_tile<Element>(in, source.test(source.fetch(parts, tile)));
        if (++run == SHARDED_RUN_TILES) {
            TOPK_REACHED(REACHED_SHARDED_CUDA_RUN);
            add_tables(in.a, in.s, row);
            run = 0;
        }
    }
    add_tables(in.a, in.s, row);
}

/* FIRST: for the first round alone. WHERE: elements that do not meet the call's predicate do not count. */
template <typename Element, bool FIRST, bool WHERE>
TOPK_DEVICE void count_row(const struct sharded_args &a, const matcher<Element, WHERE> &predicate,
                           const count_shared &s, int64_t row) {
    typedef key_word_t<Element> word;
    struct sharded_row *state = &a.states[row];
    if (state->own == 0)
        return;
    Element *list = (Element *)a.kept + row * a.capacity;
    const word low = (word)state->low,
               span = (word)(((uint64_t)a.mask << a.shift) | (((uint64_t)1 << a.shift) - 1));
    const int64_t target = state->target, kept = state->kept;
    Element *keep = target >= 0 ? list + target : nullptr;
    uint64_t *filled = (uint64_t *)&state->filled;
    if (!FIRST && kept > 0 && a.is_later_part)
        return;
    if (!FIRST && kept > 0) {
        TOPK_REACHED(REACHED_SHARDED_CUDA_KEPT);
        const interval<Element, FIRST, true> in = {a, s, low, span, keep, a.capacity - target, filled};
        count_elements<Element>(in, kept_source<Element>{list + state->kept_begin}, kept, row);
    } else {
        if (!a.is_first)
            TOPK_REACHED(REACHED_SHARDED_CUDA_AGAIN);
        const struct row r = row_at(a.rows, row);
        const interval<Element, FIRST, false> in = {a, s, low, span, keep, a.capacity - target, filled};
        if (a.is_first && simt_block() == 0 && simt_thread() == 0)
            state->length += r.length;
        count_elements<Element>(in, source_of(a.rows, r, predicate), predicate.none ? 0 : r.length, row);
    }
}

template <typename Element, bool FIRST, bool WHERE>
TOPK_KERNEL TOPK_BOUNDS(SHARDED_THREADS, SHARDED_BLOCKS_PER_SM) void sharded_count(struct sharded_args a) {
    simt_arena arena = simt_shared_arena();
    const count_shared s = carve_count(arena, a.bins);
    clear_tables(a, s);
    if (!is_begun(a))
        return;
    const matcher<Element, WHERE> predicate = matcher<Element, WHERE>::of(a.predicate);
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        if (row != simt_block_y())
            TOPK_REACHED(REACHED_SHARDED_CUDA_NEXT_ROW);
        count_row<Element, FIRST, WHERE>(a, predicate, s, row);
    }
}

#endif
