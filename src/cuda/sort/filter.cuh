/* SPDX-License-Identifier: Apache-2.0
 * One read of each row lists its survivors, in the order of positions.
 *
 * The threshold of a row is a key and a position. An element survives if its key is greater, or the same
 * and its own position is lower. The survivors of all rows lie end to end, as one compaction leaves them
 * (tile_loop.cuh): the first tile of a row notes where they begin. */
#ifndef TOPK_SRC_CUDA_SORT_FILTER_CUH
#define TOPK_SRC_CUDA_SORT_FILTER_CUH

#include "../tile_loop.cuh"
#include "misled.cuh"

/* A row, or one of its tiles. */
template <typename Element> struct filter_tile {
    typedef key_word_t<Element> word;
    const Element *values; /* of the row */
    int64_t in_group;
    int64_t first;     /* position of offset 0: there a group of 16 bytes begins, maybe before the row */
    int64_t length;    /* of the row; 0 if nothing is asked of it */
    word lowest, last; /* codes of the threshold's class */
    int64_t until;     /* elements of this class survive before this position */

    static TOPK_MEMBER filter_tile of_row(const struct sort_args &a, int64_t in_group) {
        const struct row r = row_of(a, a.first_row + in_group);
        const word threshold = (word)a.filter.thresholds[in_group];
        filter_tile t;
        t.values = row_values<Element>(a.rows, r);
        t.in_group = in_group;
        t.first = -(int64_t)((uintptr_t)t.values % 16 / sizeof(Element));
        t.length = r.k > 0 ? r.length : 0;
        t.lowest = uncut_class_first<Element>(threshold, a.rows.map);
        t.last = uncut_class_last<Element>(threshold, a.rows.map);
        t.until = a.filter.until[in_group];
        return t;
    }
};

/* The tiles, for tile_loop.cuh. */
template <typename Element> struct survivor_tiles {
    typedef tile_shape<Element> shape;
    typedef body_tile<Element> raw;
    typedef key_word_t<Element> word;
    static const uint32_t THREADS = SORT_FILTER_THREADS, ITEMS = shape::PER * shape::GROUPS,
                          WORKERS = THREADS - SIMT_WARP, SIZE = WORKERS * ITEMS;
    static_assert(ITEMS == SORT_FILTER_ITEMS(sizeof(Element)), "sort.c counts on it");
    const struct sort_args &a;
    uint32_t tiles;
    filter_tile<Element> first_row;

    TOPK_MEMBER bool lists(void) const {
        return true;
    }
    TOPK_MEMBER filter_tile<Element> at(uint32_t tile) const {
        filter_tile<Element> t = first_row;
        if (a.group_rows > 1) {
            t = filter_tile<Element>::of_row(a, tile / (uint32_t)a.filter.tiles);
            tile %= (uint32_t)a.filter.tiles;
        }
        t.first += (int64_t)tile * SIZE;
        return t;
    }
    /* The offset of the first element that the thread loads; group g begins g * SIMT_WARP * PER behind it. */
    static TOPK_MEMBER uint32_t offset(void) {
        return simt_warp() * SIMT_WARP * ITEMS + simt_lane() * shape::PER;
    }
    TOPK_MEMBER bool is_full(const filter_tile<Element> &t) const {
        return t.first >= 0 && t.first + SIZE <= t.length;
    }
    TOPK_MEMBER void load(uint32_t tile, raw &to) const {
        const filter_tile<Element> t = at(tile);
        const int64_t first = t.first + offset();
        if (is_full(t)) {
#pragma unroll
            for (uint32_t g = 0; g < shape::GROUPS; g++)
                to.raw[g] = simt_load16_read_only(t.values + first + g * SIMT_WARP * shape::PER);
        } else {
#pragma unroll
            for (uint32_t g = 0; g < shape::GROUPS; g++)
                to.raw[g] = load_within(t.values, first + g * SIMT_WARP * shape::PER, t.length);
        }
    }
    /* Bit i is for the thread's element at its offset i. All lanes. */
    TOPK_MEMBER uint32_t hits(uint32_t tile, const raw &from) const {
        const filter_tile<Element> t = at(tile);
        const bool is_behind = t.until <= t.first, is_none = t.last >= (word)(Element) ~(Element)0;
        uint32_t bits = from_code(from, is_behind ? t.last + 1 : t.lowest, is_behind && is_none);
        if (t.first < t.until && t.until < t.first + SIZE) {
            TOPK_REACHED(REACHED_SORT_CUT);
            const uint32_t above = from_code(from, t.last + 1, is_none);
            bits = (bits & offsets_between(t, 0, t.until)) | above;
        }
        if (!is_full(t))
            bits &= offsets_between(t, 0, t.length);
        return gather_bits<shape::PER, shape::GROUPS>(bits);
    }
    /* Writes the tile's survivors behind `base` others, as far as there is room. */
    TOPK_MEMBER void write(uint32_t tile, simt_shared<uint16_t> list, uint64_t base, uint32_t count) const {
        const filter_tile<Element> t = at(tile);
        const uint64_t room = (uint64_t)(a.group_rows * a.filter.room), left = base < room ? room - base : 0;
        const uint32_t fitting = count < left ? count : (uint32_t)left;
        write_values<WORKERS>((Element *)a.to.elements + base, list, t.values + t.first, fitting);
        if (a.wide)
            write_positions<WORKERS>((int64_t *)a.to.positions + base, list, t.first, fitting);
        else
            write_positions<WORKERS>((uint32_t *)a.to.positions + base, list, (uint32_t)t.first, fitting);
        if (simt_thread() == 0 && tile == t.in_group * a.filter.tiles)
            simt_store_relaxed(&a.filter.starts[t.in_group], base);
        if (simt_thread() == 0 && tile + 1 == tiles)
            simt_store_relaxed(&a.filter.starts[a.group_rows], base + count);
    }

  private:
    /* Bit PER * g + i: whether the code of element i of group g is at least `lowest`, if any is. */
    TOPK_MEMBER uint32_t from_code(const raw &from, word lowest, bool none) const {
        uint32_t bits = 0;
#pragma unroll
        for (uint32_t item = 0; item < ITEMS; item++) {
            const word element = from.bits(item / shape::PER, item % shape::PER);
            bits |= (uint32_t)(uncut_code_of<Element>(element, a.rows.map) >= lowest) << item;
        }
        return none ? 0 : bits;
    }
    /* The bits of elements whose positions are in [from, to). */
    static TOPK_MEMBER uint32_t offsets_between(const filter_tile<Element> &t, int64_t from, int64_t to) {
        uint32_t bits = 0;
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++) {
            const int64_t first = t.first + offset() + g * SIMT_WARP * shape::PER;
            const uint32_t below = bits_below<shape::PER>(to - first) & ~bits_below<shape::PER>(from - first);
            bits |= below << g * shape::PER;
        }
        return bits;
    }
};

template <typename Element> struct filter_shared {
    struct misled_shared misled; /* before the tiles, in the same memory */
    struct tile_shared tiles;
};

template <typename Element> TOPK_HOST_DEVICE struct filter_shared<Element> carve_filter(simt_arena &arena) {
    struct filter_shared<Element> s = {};
    simt_arena turns = arena;
    s.misled = carve_misled<Element>(turns);
    s.tiles = carve_tiles<survivor_tiles<Element>>(arena);
    if (arena.used_bytes < turns.used_bytes)
        arena.used_bytes = turns.used_bytes;
    return s;
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(SORT_FILTER_THREADS,
                        SORT_FILTER_BLOCKS_PER_SM) void sort_survivors(struct sort_args a) {
    simt_arena arena = simt_shared_arena();
    const struct filter_shared<Element> s = carve_filter<Element>(arena);
    const uint32_t tiles = (uint32_t)(a.group_rows * a.filter.tiles);
    simt_wait_predecessor();
    simt_allow_successor();
    if (is_called_off(a.rows) || (a.filter.again && !is_any_misled<Element>(a)))
        return;
    if (a.filter.again)
        settle_rows<Element>(a, s.misled);
    TOPK_REACHED(REACHED_SORT_FILTERED);
    run_tiles(survivor_tiles<Element>{a, tiles, filter_tile<Element>::of_row(a, 0)},
              tile_sequence{a.filter.ticket, sum_words_of(a.filter.words, tiles), tiles}, s.tiles);
}

#endif
