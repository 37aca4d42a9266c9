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

static_assert(SORT_BINS <= SORT_THREADS, "each digit has a thread");

/* A tile on its way. */
struct sort_tile {
    int64_t in_group, row;
    struct row r;
    int64_t number;     /* in its row */
    int64_t first;      /* element of the list */
    uint64_t threshold; /* of the row's survivors, a key */
    uint32_t count;     /* elements, at most TILE */
    bool all_taken;     /* no tile remains */
    bool is_last;       /* the row's last pass writes results */
};

/* The tile is kept here, not in registers, which elements and their slots fill. The same memory holds, in
 * turns, the counters while the tile is ranked, then its elements, then their positions, as many at a time as
 * fit in. */
template <typename Element> struct sort_pass_shared {
    struct rank_shared digits;
    simt_shared<struct sort_tile> tile;
    simt_shared<uint64_t> bases; /* of each digit: where an element goes, less its slot in the sorted tile */
    simt_shared<uint64_t> scratch; /* one for each warp */
    simt_shared<Element> elements;
    simt_shared<uint32_t> positions;
    simt_shared<uint64_t> wide_positions; /* half as many */
};

template <typename Element> TOPK_HOST_DEVICE struct sort_pass_shared<Element> carve_pass(simt_arena &arena) {
    const uint32_t tile = pass_sizes<Element>::TILE;
    struct sort_pass_shared<Element> s = {};
    s.digits = carve_digits(arena);
    s.tile = simt_carve<struct sort_tile>(arena, 1);
    s.bases = simt_carve<uint64_t>(arena, SORT_BINS);
    s.scratch = simt_carve<uint64_t>(arena, SIMT_WARP);
    simt_arena turns[3] = {arena, arena, arena};
    s.digits.counters = simt_carve<uint32_t>(turns[0], SORT_THREADS / SIMT_WARP * SORT_BINS);
    s.elements = simt_carve<Element>(turns[1], tile);
    s.wide_positions = simt_carve<uint64_t>(turns[2], tile / 2);
    s.positions = simt_carve<uint32_t>(arena, tile);
    for (uint32_t i = 0; i < 3; i++)
        if (arena.used_bytes < turns[i].used_bytes)
            arena.used_bytes = turns[i].used_bytes;
    return s;
}

template <typename Element>
TOPK_DEVICE simt_shared<uint32_t> exchange_of(const struct sort_pass_shared<Element> &s, uint32_t) {
    return s.positions;
}

template <typename Element>
TOPK_DEVICE simt_shared<uint64_t> exchange_of(const struct sort_pass_shared<Element> &s, uint64_t) {
    return s.wide_positions;
}

/* How many passes put a row's survivors in order: they share the digits above. */
template <typename Element> TOPK_DEVICE uint32_t passes_of(const struct sort_args &a, int64_t in_group) {
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
    int64_t count = a.is_found ? t.r.k : t.r.length;
    if (a.filter.survivors != nullptr) {
        const uint32_t passes = passes_of<Element>(a, t.in_group);
        t.threshold = a.filter.thresholds[t.in_group];
        t.is_last = a.pass + 1 == passes;
        count = a.pass < passes ? (int64_t)a.filter.survivors[t.in_group] : 0;
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
        publish_tile(a.states + word, SORT_BINS, t.number, offset + count);
        if (a.next_states != nullptr)
            a.next_states[word + t.number * SORT_BINS] = 0;
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
        uint64_t *words = a.states + t.in_group * a.tiles * SORT_BINS + digit;
        s.bases[digit] = offset + collect_tiles(words, SORT_BINS, t.number, count) - before;
    }
}

/* The digits of the elements that a thread writes, four in a word. */
template <uint32_t ITEMS> struct packed_digits {
    uint32_t words[(ITEMS + 3) / 4];

    TOPK_MEMBER void put(uint32_t item, uint32_t digit) {
        words[item / 4] = (item % 4 == 0 ? 0 : words[item / 4]) | digit << item % 4 * 8;
    }
    TOPK_MEMBER uint32_t get(uint32_t item) const {
        return words[item / 4] >> item % 4 * 8 & 0xff;
    }
};

/* Writes the elements in the order of the sorted tile, and remembers their digits. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void write_elements(const struct sort_args &a, const struct sort_pass_shared<Element> &s,
                                struct packed_digits<ITEMS> &digits) {
    const struct sort_tile t = s.tile[0];
    struct row_args values_only = a.rows;
    values_only.out_indices = nullptr;
    Element *to = (Element *)a.to.elements + t.in_group * a.to.pitch;
#pragma unroll
    for (uint32_t j = 0; j < ITEMS; j++) {
        uint32_t slot = j * SORT_THREADS + simt_thread(), digit = 0;
        if (slot < t.count) {
            Element element = s.elements[slot];
            digit = digit_of_pass<Element>(a, element, (key_word_t<Element>)t.threshold, a.pass);
            uint64_t target = s.bases[digit] + slot;
            if (!t.is_last)
                to[target] = element;
            else if (target < (uint64_t)t.r.k)
                write_result<Element>(values_only, t.row, t.r, (int64_t)target, element, 0);
        }
        digits.put(j, digit);
    }
}

/* The positions of a tile's elements, in the order that they were found in. Position is their type in memory.
 */
template <typename Position, uint32_t ITEMS> struct tile_positions {
    /* Narrow ones are loaded early, while the block waits for other tiles; for wide ones there are too few
     * registers. */
    static const bool EARLY = sizeof(Position) == 4;
    const Position *list; /* NULL: an element's slot in its list */
    int64_t first;        /* of the thread's elements */
    uint32_t count;       /* elements from there on */
    Position loaded[EARLY ? ITEMS : 1];

    TOPK_MEMBER bool exists(uint32_t item) const {
        return item * SIMT_WARP < count;
    }
    TOPK_MEMBER Position load(uint32_t item) const {
        int64_t at = first + item * SIMT_WARP;
        return list == nullptr || !exists(item) ? (Position)at : list[at];
    }
    TOPK_MEMBER Position get(uint32_t item) const {
        return EARLY ? loaded[item] : load(item);
    }
};

template <typename Position, uint32_t ITEMS>
TOPK_DEVICE struct tile_positions<Position, ITEMS> positions_of(const struct sort_args &a,
                                                                const struct sort_tile &t) {
    const uint32_t mine = simt_warp() * SIMT_WARP * ITEMS + simt_lane();
    struct tile_positions<Position, ITEMS> p;
    p.list = (const Position *)a.from.positions;
    if (p.list != nullptr)
        p.list += t.in_group * a.from.pitch;
    p.first = t.first + mine;
    p.count = mine < t.count ? t.count - mine : 0;
    if (p.EARLY) {
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            p.loaded[i] = p.load(i);
    }
    return p;
}

/* The same for positions: item i goes to slots[i] of the sorted tile. */
template <typename Element, typename Position, uint32_t ITEMS>
TOPK_DEVICE void write_positions(const struct sort_args &a, const struct sort_pass_shared<Element> &s,
                                 const uint32_t (&slots)[ITEMS],
                                 const struct tile_positions<Position, ITEMS> &positions,
                                 const struct packed_digits<ITEMS> &digits) {
    const uint32_t TILE = pass_sizes<Element>::TILE, ROOM = sizeof(Position) == 8 ? TILE / 2 : TILE;
    const struct sort_tile t = s.tile[0];
    simt_shared<Position> exchange = exchange_of(s, (Position)0);
    struct row_args indices_only = a.rows;
    indices_only.out_values = nullptr;
    Position *to = (Position *)a.to.positions + t.in_group * a.to.pitch;
    for (uint32_t begin = 0; begin < TILE; begin += ROOM) {
        simt_block_sync();
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            if (positions.exists(i) && slots[i] - begin < ROOM)
                exchange[slots[i] - begin] = positions.get(i);
        simt_block_sync();
#pragma unroll
        for (uint32_t j = 0; j < ITEMS; j++) {
            uint32_t slot = j * SORT_THREADS + simt_thread();
            if (slot < t.count && slot - begin < ROOM) {
                uint64_t target = s.bases[digits.get(j)] + slot;
                Position position = exchange[slot - begin];
                if (!t.is_last)
                    to[target] = position;
                else if (target < (uint64_t)t.r.k)
                    write_result<Element>(indices_only, t.row, t.r, (int64_t)target, (Element)0,
                                          (int64_t)position);
            }
        }
    }
}

/* Moves elements, which are in shared memory in the order of the sorted tile, and their positions to where
 * they go. */
template <typename Element, typename Position, uint32_t ITEMS>
TOPK_DEVICE void move_tile(const struct sort_args &a, const struct sort_pass_shared<Element> &s,
                           const uint32_t (&slots)[ITEMS], uint64_t offset) {
    struct tile_positions<Position, ITEMS> positions = positions_of<Position, ITEMS>(a, s.tile[0]);
    struct packed_digits<ITEMS> digits;
    find_bases(a, s, offset);
    simt_block_sync();
    write_elements(a, s, digits);
    if (!a.is_kth)
        write_positions(a, s, slots, positions, digits);
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
    for (uint32_t i = 0; i < ITEMS; i++) {
        bool inside = mine + i * SIMT_WARP < t.count;
        elements[i] = inside ? from[i * SIMT_WARP] : (Element)0;
        slots[i] =
            inside ? digit_of_pass<Element>(a, elements[i], (key_word_t<Element>)t.threshold, a.pass) : 0;
    }
    rank_tile(s.digits, t.count, slots);
    uint64_t offset = publish_counts(a, s);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        if (mine + i * SIMT_WARP < t.count)
            s.elements[slots[i]] = elements[i];
    if (a.wide) {
        TOPK_REACHED(REACHED_SORT_WIDE);
        move_tile<Element, uint64_t>(a, s, slots, offset);
    } else {
        move_tile<Element, uint32_t>(a, s, slots, offset);
    }
}

template <typename Element> TOPK_KERNEL TOPK_BOUNDS(SORT_THREADS, 2) void sort_pass(struct sort_args a) {
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
            for (int64_t slot = t.r.k + t.number * SORT_THREADS + simt_thread(); slot < a.rows.k_max;
                 slot += a.tiles * SORT_THREADS)
                write_padding<Element>(a.rows, t.row, slot);
        if (t.count > 0)
            sort_one_tile(a, s);
        simt_block_sync();
    }
}

#endif
