/* SPDX-License-Identifier: Apache-2.0
 * Rows of many tiles: each pass moves every element once (Adinets and Merrill, Onesweep, 2022).
 *
 * Tiles are handed out in order. A tile is ranked by digit in its block, learns from the tiles before it, by
 * look-back, how many elements of each digit they have, and writes its elements, which shared memory has put
 * in order, in runs of one digit each. */
#ifndef TOPK_SRC_CUDA_SORT_PASS_CUH
#define TOPK_SRC_CUDA_SORT_PASS_CUH

#include "../lookback.cuh"
#include "count.cuh"

static_assert(SORT_BINS <= SORT_PASS_THREADS, "each digit has a thread");

/* A tile on its way. */
struct sort_tile {
    int64_t in_group, row;
    struct row r;
    int64_t number; /* in its row */
    int64_t first;  /* element of the list */
    const void *elements,
        *positions;     /* of the list, from that one on; no positions: they are as in the row */
    int64_t to;         /* where the row's list begins in the destination */
    uint64_t threshold; /* of the row's survivors, a key */
    uint32_t count;     /* elements, at most TILE */
    bool all_taken;     /* no tile remains */
    bool is_last;       /* the row's last pass writes results */
};

/* The sorted tile is kept here, not in registers, which elements and their slots fill. The counters, which
 * rank it, have the memory of its elements. */
template <typename Element> struct sort_pass_shared {
    struct rank_shared digits;
    simt_shared<struct sort_tile> tile;
    simt_shared<uint32_t>
        bases; /* of each digit: where an element goes, less its slot; and the upper halves */
    simt_shared<uint64_t> scratch; /* one for each warp */
    /* Of each slot. Wide positions: the element's number in the tile, to fetch them by. */
    simt_shared<Element> elements;
    simt_shared<uint32_t> positions;
    simt_shared<uint8_t> digit_of;
};

template <typename Element> TOPK_HOST_DEVICE struct sort_pass_shared<Element> carve_pass(simt_arena &arena) {
    struct sort_pass_shared<Element> s = {};
    s.digits = carve_digits(arena);
    s.tile = simt_carve<struct sort_tile>(arena, 1);
    s.bases = simt_carve<uint32_t>(arena, 2 * SORT_BINS);
    s.scratch = simt_carve<uint64_t>(arena, SIMT_WARP);
    s.positions = simt_carve<uint32_t>(arena, pass_sizes<Element>::TILE);
    s.digit_of = simt_carve<uint8_t>(arena, pass_sizes<Element>::TILE);
    simt_arena turns = arena;
    s.digits.counters = simt_carve<uint32_t>(turns, SORT_PASS_THREADS / SIMT_WARP * SORT_BINS);
    s.elements = simt_carve<Element>(arena, pass_sizes<Element>::TILE);
    if (arena.used_bytes < turns.used_bytes)
        arena.used_bytes = turns.used_bytes;
    return s;
}

/* How many passes put a row's survivors in order: they share the digits above. */
template <typename Element>
TOPK_DEVICE uint32_t passes_of(const struct sort_args &a, int64_t in_group) {
    const uint64_t range = a.filter.ranges[in_group];
    const uint32_t bits = 64 - simt_clz(range | 1);
    return (bits + SORT_DIGIT_BITS - 1) / SORT_DIGIT_BITS;
}

/* The next tile, by ticket. One thread. */
template <typename Element> TOPK_DEVICE struct sort_tile draw_tile(const struct sort_args &a) {
    const uint32_t TILE = pass_sizes<Element>::TILE;
    const int64_t ticket = (int64_t)simt_atomic_add(a.ticket, (uint64_t)1);
    struct sort_tile t = {};
    t.all_taken = ticket >= a.group_rows * a.tiles;
    if (t.all_taken)
        return t;
    t.in_group = ticket / a.tiles;
    t.number = ticket % a.tiles;
    t.row = a.first_row + t.in_group;
    t.r = row_of(a, t.row);
    t.first = t.number * TILE;
    t.is_last = a.to.elements == nullptr;
    t.to = start_of_list(a, a.to, t.in_group);
    const struct sort_list<Element> list = list_of<Element>(a, t.in_group, t.r);
    t.elements = list.elements + t.first;
    if (list.positions != nullptr)
        t.positions = (const char *)list.positions + t.first * (a.wide ? 8 : 4);
    int64_t count = list.count;
    if (a.filter.starts != nullptr) {
        const uint32_t passes = passes_of<Element>(a, t.in_group);
        t.threshold = a.filter.thresholds[t.in_group];
        t.is_last = a.pass + 1 == passes;
        count = a.pass < passes ? count : 0;
        if (a.pass >= passes)
            TOPK_REACHED(REACHED_SORT_SKIPPED);
        t.all_taken = a.group_rows == 1 && t.first >= count && (!t.is_last || t.r.k == a.rows.k_max);
    }
    int64_t remaining = count - t.first;
    t.count = remaining < TILE ? (uint32_t)(remaining > 0 ? remaining : 0) : TILE;
    return t;
}

/* How many elements of this row have a lower digit than the thread's number. All threads. */
template <typename Element>
TOPK_DEVICE uint64_t row_offset(const struct sort_args &a, const struct sort_pass_shared<Element> &s,
                                int64_t in_group) {
    const uint64_t *counts = a.counts + (in_group * pass_sizes<Element>::PASSES + a.pass) * SORT_BINS;
    uint64_t total;
    return block_scan(s.scratch, simt_thread() < SORT_BINS ? counts[simt_thread()] : (uint64_t)0, &total);
}

/* Announces the tile's counts to the tiles after it; returns what the thread of a digit needs for
 * find_bases(). All threads. */
template <typename Element>
TOPK_DEVICE uint64_t publish_counts(const struct sort_args &a, const struct sort_pass_shared<Element> &s,
                                    const struct sort_tile &t) {
    const uint32_t digit = simt_thread();
    const int64_t word = t.in_group * a.tiles * SORT_BINS + digit;
    uint64_t offset = t.number == 0 ? row_offset(a, s, t.in_group) : 0;
    if (digit < SORT_BINS) {
        uint32_t count = s.digits.offsets[digit + 1] - s.digits.offsets[digit];
        const int64_t next = word + t.number * SORT_BINS;
        if (a.wide_states) {
            publish_tile((uint64_t *)a.states + word, SORT_BINS, t.number, offset + count);
            if (a.next_states != nullptr)
                ((uint64_t *)a.next_states)[next] = 0;
        } else {
            publish_tile((uint32_t *)a.states + word, SORT_BINS, t.number, offset + count);
            if (a.next_states != nullptr)
                ((uint32_t *)a.next_states)[next] = 0;
        }
    }
    return offset;
}

/* What the threads of digits learn from the tiles before. */
template <typename Element>
TOPK_DEVICE void find_bases(const struct sort_args &a, const struct sort_pass_shared<Element> &s,
                            const struct sort_tile &t, uint64_t offset) {
    const uint32_t digit = simt_thread();
    if (digit < SORT_BINS) {
        uint32_t before = s.digits.offsets[digit], count = s.digits.offsets[digit + 1] - before;
        const int64_t word = t.in_group * a.tiles * SORT_BINS + digit;
        if (a.wide_states)
            offset += collect_tiles((uint64_t *)a.states + word, SORT_BINS, t.number, count);
        else
            offset += collect_tiles((uint32_t *)a.states + word, SORT_BINS, t.number, count);
        s.bases[digit] = (uint32_t)(offset - before);
        s.bases[SORT_BINS + digit] = (uint32_t)((offset - before) >> 32);
    }
}

/* The elements of a tile that a thread has: item i is element first + i * SIMT_WARP. WHOLE: the tile has as
 * many as fit in, so that nothing has to be asked. */
template <typename Element, bool WHOLE> struct tile_share {
    static const uint32_t ITEMS = pass_sizes<Element>::ITEMS;
    uint32_t first, count;

    TOPK_MEMBER bool has(uint32_t i) const {
        return WHOLE || first + i * SIMT_WARP < count;
    }
    template <typename T> TOPK_MEMBER void load(const T *list, T (&items)[ITEMS]) const {
        const T *from = simt_global(list) + first;
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            items[i] = has(i) ? from[i * SIMT_WARP] : (T)0;
    }
    template <typename T>
    TOPK_MEMBER void put(simt_shared<T> to, const uint32_t (&slots)[ITEMS], const T (&items)[ITEMS]) const {
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            if (has(i))
                to[slots[i]] = items[i];
    }
};

/* The positions of a thread's elements; wide ones: their numbers in the tile. */
template <typename Element, bool WHOLE>
TOPK_DEVICE void load_positions(const struct sort_args &a, const struct sort_tile &t,
                                const tile_share<Element, WHOLE> &share,
                                uint32_t (&positions)[pass_sizes<Element>::ITEMS]) {
    if (t.positions != nullptr && !a.wide) {
        share.load((const uint32_t *)t.positions, positions);
        return;
    }
    const uint32_t first = (a.wide ? 0 : (uint32_t)t.first) + share.first;
#pragma unroll
    for (uint32_t i = 0; i < pass_sizes<Element>::ITEMS; i++)
        positions[i] = first + i * SIMT_WARP;
}

/* Puts a tile in order in shared memory, and finds where its elements go. All threads; ends with a barrier.
 */
template <typename Element, bool WHOLE>
TOPK_DEVICE void order_tile(const struct sort_args &a, const struct sort_pass_shared<Element> &s,
                            const struct sort_tile &t) {
    const uint32_t ITEMS = pass_sizes<Element>::ITEMS;
    const tile_share<Element, WHOLE> share = {simt_warp() * SIMT_WARP * ITEMS + simt_lane(), t.count};
    const key_word_t<Element> threshold = (key_word_t<Element>)t.threshold;
    Element elements[ITEMS];
    uint32_t slots[ITEMS], positions[ITEMS];
    share.load((const Element *)t.elements, elements);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        slots[i] = share.has(i) ? digit_of_pass<Element>(a, elements[i], threshold, a.pass) : SORT_BINS - 1u;
    rank_tile(s.digits, t.count, slots, [&](uint32_t i, uint32_t digit) TOPK_LAMBDA {
        if (share.has(i))
            s.digit_of[slots[i]] = (uint8_t)digit;
    });
    const uint64_t offset = publish_counts(a, s, t);
    share.put(s.elements, slots, elements);
    if (!a.is_kth)
        load_positions(a, t, share, positions);
    find_bases(a, s, t, offset);
    if (!a.is_kth)
        share.put(s.positions, slots, positions);
    simt_block_sync();
}

/* The position of what has `number` in shared memory. */
TOPK_DEVICE uint64_t position_of(const struct sort_args &a, const struct sort_tile &t, uint32_t number) {
    if (!a.wide)
        return number;
    if (t.positions == nullptr)
        return (uint64_t)t.first + number;
    return ((const uint64_t *)t.positions)[number];
}

/* Calls write(slot, target) for the slots of a tile that the thread writes. Targets are below 2^32. */
template <typename Element, bool WHOLE, typename Write>
TOPK_DEVICE void for_slots(const struct sort_pass_shared<Element> &s, uint32_t count, const Write &write) {
#pragma unroll
    for (uint32_t i = 0; i < pass_sizes<Element>::ITEMS; i++) {
        const uint32_t slot = i * SORT_PASS_THREADS + simt_thread();
        if (WHOLE || slot < count)
            write(slot, s.bases[s.digit_of[slot]] + slot);
    }
}

/* The same for lists of any length. */
template <typename Element, typename Write>
TOPK_DEVICE void for_wide_slots(const struct sort_pass_shared<Element> &s, uint32_t count,
                                const Write &write) {
#pragma unroll 1
    for (uint32_t slot = simt_thread(); slot < count; slot += SORT_PASS_THREADS) {
        const uint32_t digit = s.digit_of[slot];
        write(slot, ((uint64_t)s.bases[SORT_BINS + digit] << 32 | s.bases[digit]) + slot);
    }
}

/* Writes a tile to the lists. All threads. */
template <typename Element, bool WHOLE>
TOPK_DEVICE void write_entries(const struct sort_args &a, const struct sort_pass_shared<Element> &s,
                               const struct sort_tile &t) {
    Element *const elements = simt_global((Element *)a.to.elements + t.to);
    if (!a.wide) {
        uint32_t *const positions = simt_global((uint32_t *)a.to.positions + t.to);
        for_slots<Element, WHOLE>(s, t.count, [&](uint32_t slot, uint32_t target) TOPK_LAMBDA {
            elements[target] = s.elements[slot];
            if (!a.is_kth)
                positions[target] = s.positions[slot];
        });
        return;
    }
    TOPK_REACHED(REACHED_SORT_WIDE);
    uint64_t *const positions = (uint64_t *)a.to.positions + t.to;
    for_wide_slots(s, t.count, [&](uint32_t slot, uint64_t target) TOPK_LAMBDA {
        elements[target] = s.elements[slot];
        if (!a.is_kth)
            positions[target] = position_of(a, t, s.positions[slot]);
    });
}

/* Writes what is among the results to the outputs. All threads. */
template <typename Element, bool WHOLE>
TOPK_DEVICE void write_results_of_tile(const struct sort_args &a, const struct sort_pass_shared<Element> &s,
                                       const struct sort_tile &t) {
    const uint64_t k = (uint64_t)t.r.k;
    const int64_t first = t.row * a.rows.k_max;
    if (a.wide || a.rows.payload != nullptr) {
        for_wide_slots(s, t.count, [&](uint32_t slot, uint64_t target) TOPK_LAMBDA {
            if (target < k)
                write_output<Element>(a.rows, first + (int64_t)target, t.r.begin, s.elements[slot],
                                      (int64_t)position_of(a, t, s.positions[slot]));
        });
        return;
    }
    Element *const values = simt_global((Element *)a.rows.out_values + first);
    int32_t *const indices = simt_global((int32_t *)a.rows.out_indices + first);
    int64_t *const wide_indices = simt_global((int64_t *)a.rows.out_indices + first);
    for_slots<Element, WHOLE>(s, t.count, [&](uint32_t slot, uint32_t target) TOPK_LAMBDA {
        if (target >= k)
            return;
        if (a.rows.out_values != nullptr)
            values[target] = s.elements[slot];
        if (a.rows.out_indices != nullptr && a.rows.wide_indices)
            wide_indices[target] = (int64_t)s.positions[slot] + a.rows.index_base;
        if (a.rows.out_indices != nullptr && !a.rows.wide_indices)
            indices[target] = (int32_t)(s.positions[slot] + a.rows.index_base);
    });
}

/* A tile's share of the row's slots behind its results. */
template <typename Element> TOPK_DEVICE void pad_row(const struct sort_args &a, const struct sort_tile &t) {
    for (int64_t slot = t.r.k + t.number * SORT_PASS_THREADS + simt_thread(); slot < a.rows.k_max;
         slot += a.tiles * SORT_PASS_THREADS)
        write_padding<Element>(a.rows, t.row, slot);
}

/* Sorts a tile by its digit. All threads. */
template <typename Element, bool WHOLE>
TOPK_DEVICE void sort_one_tile(const struct sort_args &a, const struct sort_pass_shared<Element> &s,
                               const struct sort_tile &t) {
    order_tile<Element, WHOLE>(a, s, t);
    if (t.is_last)
        write_results_of_tile<Element, WHOLE>(a, s, t);
    else
        write_entries<Element, WHOLE>(a, s, t);
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(SORT_PASS_THREADS, SORT_PASS_BLOCKS_PER_SM) void sort_pass(struct sort_args a) {
    simt_arena arena = simt_shared_arena();
    struct sort_pass_shared<Element> s = carve_pass<Element>(arena);
    simt_wait_predecessor();
    if (a.has_successor)
        simt_allow_successor();
    if (is_called_off(a.rows))
        return;
    while (true) {
        if (simt_thread() == 0)
            s.tile[0] = draw_tile<Element>(a);
        simt_block_sync();
        const struct sort_tile &t = s.tile[0];
        if (t.all_taken)
            return;
        if (t.is_last)
            pad_row<Element>(a, t);
        if (t.count == pass_sizes<Element>::TILE)
            sort_one_tile<Element, true>(a, s, t);
        else if (t.count > 0)
            sort_one_tile<Element, false>(a, s, t);
        simt_block_sync();
    }
}

#endif
