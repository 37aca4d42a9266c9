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
    int64_t number;     /* in its row */
    int64_t first;      /* element of the list */
    int64_t from, to;   /* where the row's lists begin */
    uint64_t threshold; /* of the row's survivors, a key */
    uint32_t count;     /* elements, at most TILE */
    bool all_taken;     /* no tile remains */
    bool is_last;       /* the row's last pass writes results */
};

/* The tile is kept here, not in registers, which elements and their slots fill:
 *
 *   counters, then elements    first while the tile is ranked, then in the order of the sorted tile
 *   positions                  in this order, too; wide ones: the element's number in the tile, to fetch them
 * by
 */
template <typename Element> struct sort_pass_shared {
    struct rank_shared digits;
    simt_shared<struct sort_tile> tile;
    simt_shared<uint64_t> bases; /* of each digit: where an element goes, less its slot in the sorted tile */
    simt_shared<uint64_t> scratch; /* one for each warp */
    simt_shared<Element> elements;
    simt_shared<uint32_t> positions;
};

template <typename Element> TOPK_HOST_DEVICE struct sort_pass_shared<Element> carve_pass(simt_arena &arena) {
    struct sort_pass_shared<Element> s = {};
    s.digits = carve_digits(arena);
    s.tile = simt_carve<struct sort_tile>(arena, 1);
    s.bases = simt_carve<uint64_t>(arena, SORT_BINS);
    s.scratch = simt_carve<uint64_t>(arena, SIMT_WARP);
    s.positions = simt_carve<uint32_t>(arena, pass_sizes<Element>::TILE);
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
    t.from = start_of_list(a, a.from, t.in_group);
    t.to = start_of_list(a, a.to, t.in_group);
    int64_t count = count_of_list(a, t.in_group, t.r);
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

/* How many elements of this row have a lower digit than that of the thread's number. All threads. */
template <typename Element>
TOPK_DEVICE uint64_t row_offset(const struct sort_args &a, const struct sort_pass_shared<Element> &s,
                                int64_t in_group) {
    const uint64_t *counts = a.counts + (in_group * pass_sizes<Element>::PASSES + a.pass) * SORT_BINS;
    uint64_t total;
    return block_scan(s.scratch, simt_thread() < SORT_BINS ? counts[simt_thread()] : (uint64_t)0, &total);
}

/* Announces the tile's counts to the tiles after it; returns what the thread of a digit needs for
 * find_bases(). */
template <typename Element>
TOPK_DEVICE uint64_t publish_counts(const struct sort_args &a, const struct sort_pass_shared<Element> &s) {
    const struct sort_tile t = s.tile[0];
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
                            uint64_t offset) {
    const struct sort_tile t = s.tile[0];
    const uint32_t digit = simt_thread();
    if (digit < SORT_BINS) {
        uint32_t before = s.digits.offsets[digit], count = s.digits.offsets[digit + 1] - before;
        const int64_t word = t.in_group * a.tiles * SORT_BINS + digit;
        if (a.wide_states)
            offset += collect_tiles((uint64_t *)a.states + word, SORT_BINS, t.number, count);
        else
            offset += collect_tiles((uint32_t *)a.states + word, SORT_BINS, t.number, count);
        s.bases[digit] = offset - before;
    }
}

/* A thread's positions; item i is that of its element i. */
template <uint32_t ITEMS> struct tile_positions {
    uint32_t items[ITEMS];

    /* Begins to load them, or counts them. */
    TOPK_MEMBER void load(const struct sort_args &a, const struct sort_tile &t, uint32_t mine) {
        const uint32_t *list = (const uint32_t *)a.from.positions + t.from + t.first + mine;
        const bool is_listed = a.from.positions != nullptr && !a.wide;
        const uint32_t first = (a.wide ? 0 : (uint32_t)t.first) + mine;
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            items[i] =
                is_listed && mine + i * SIMT_WARP < t.count ? list[i * SIMT_WARP] : first + i * SIMT_WARP;
    }
};

/* The position of what has `number` in shared memory. */
TOPK_DEVICE uint64_t position_of(const struct sort_args &a, const struct sort_tile &t, uint32_t number) {
    if (!a.wide)
        return number;
    if (a.from.positions == nullptr)
        return (uint64_t)t.first + number;
    return ((const uint64_t *)a.from.positions)[t.from + t.first + number];
}

/* Calls move(slot, element, target) with what the thread writes. */
template <typename Element, typename Move>
TOPK_DEVICE void for_targets(const struct sort_args &a, const struct sort_pass_shared<Element> &s,
                             const struct sort_tile &t, uint32_t slot, const Move &move) {
    if (slot >= t.count)
        return;
    const Element element = s.elements[slot];
    const uint32_t digit = digit_of_pass<Element>(a, element, (key_word_t<Element>)t.threshold, a.pass);
    move(slot, element, s.bases[digit] + slot);
}

/* Writes the sorted tile to the lists. */
template <typename Element>
TOPK_DEVICE void write_entries(const struct sort_args &a, const struct sort_pass_shared<Element> &s) {
    const struct sort_tile t = s.tile[0];
    Element *elements = (Element *)a.to.elements + t.to;
    uint32_t *positions = (uint32_t *)a.to.positions + t.to;
    const bool is_narrow = !a.is_kth && !a.wide;
#pragma unroll
    for (uint32_t j = 0; j < pass_sizes<Element>::ITEMS; j++)
        for_targets(a, s, t, j * SORT_PASS_THREADS + simt_thread(),
                    [&](uint32_t slot, Element element, uint64_t target) TOPK_LAMBDA {
                        elements[target] = element;
                        if (is_narrow)
                            positions[target] = s.positions[slot];
                    });
    if (!a.wide || a.is_kth)
        return;
    TOPK_REACHED(REACHED_SORT_WIDE);
    uint64_t *wide = (uint64_t *)a.to.positions + t.to;
#pragma unroll 1
    for (uint32_t slot = simt_thread(); slot < t.count; slot += SORT_PASS_THREADS)
        for_targets(a, s, t, slot, [&](uint32_t at, Element, uint64_t target) TOPK_LAMBDA {
            wide[target] = position_of(a, t, s.positions[at]);
        });
}

/* Writes what is among the results to the outputs. */
template <typename Element>
TOPK_DEVICE void write_results_of_tile(const struct sort_args &a, const struct sort_pass_shared<Element> &s) {
    const struct sort_tile t = s.tile[0];
#pragma unroll 4
    for (uint32_t j = 0; j < pass_sizes<Element>::ITEMS; j++)
        for_targets(a, s, t, j * SORT_PASS_THREADS + simt_thread(),
                    [&](uint32_t slot, Element element, uint64_t target) TOPK_LAMBDA {
                        if (target < (uint64_t)t.r.k)
                            write_result<Element>(a.rows, t.row, t.r, (int64_t)target, element,
                                                  (int64_t)position_of(a, t, s.positions[slot]));
                    });
}

/* Sorts the tile by its digit. All threads; begins after a barrier. */
template <typename Element>
TOPK_DEVICE void sort_one_tile(const struct sort_args &a, const struct sort_pass_shared<Element> &s) {
    const uint32_t ITEMS = pass_sizes<Element>::ITEMS;
    const uint32_t mine = simt_warp() * SIMT_WARP * ITEMS + simt_lane();
    const struct sort_tile t = s.tile[0];
    const Element *from = list_of<Element>(a, t.in_group, t.r).elements + t.first + mine;
    Element elements[ITEMS];
    uint32_t slots[ITEMS];
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        elements[i] = mine + i * SIMT_WARP < t.count ? from[i * SIMT_WARP] : (Element)0;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        slots[i] = mine + i * SIMT_WARP < t.count
                       ? digit_of_pass<Element>(a, elements[i], (key_word_t<Element>)t.threshold, a.pass)
                       : SORT_BINS - 1u;
    rank_tile(s.digits, t.count, slots);
    const uint64_t offset = publish_counts(a, s);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        if (mine + i * SIMT_WARP < t.count)
            s.elements[slots[i]] = elements[i];
    struct tile_positions<ITEMS> positions;
    positions.load(a, t, mine);
    find_bases(a, s, offset);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        if (mine + i * SIMT_WARP < t.count)
            s.positions[slots[i]] = positions.items[i];
    simt_block_sync();
    if (t.is_last)
        write_results_of_tile(a, s);
    else
        write_entries(a, s);
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
        struct sort_tile t = s.tile[0];
        if (t.all_taken)
            return;
        if (t.is_last)
            for (int64_t slot = t.r.k + t.number * SORT_PASS_THREADS + simt_thread(); slot < a.rows.k_max;
                 slot += a.tiles * SORT_PASS_THREADS)
                write_padding<Element>(a.rows, t.row, slot);
        if (t.count > 0)
            sort_one_tile(a, s);
        simt_block_sync();
    }
}

#endif
