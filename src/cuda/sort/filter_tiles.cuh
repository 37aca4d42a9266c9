/* SPDX-License-Identifier: Apache-2.0
 * The tiles of rows that are filtered, what a block counts of them, and rows whose threshold misled: the
 * block of such a row's first tile finds the k-th key itself, by a read for each digit, and the others wait
 * for it. */
#ifndef TOPK_SRC_CUDA_SORT_FILTER_TILES_CUH
#define TOPK_SRC_CUDA_SORT_FILTER_TILES_CUH

#include "threshold.cuh"

/* In a word of look-back: elements above the threshold low, those that tie with it high. */
static const uint32_t TIES_SHIFT = 31;
static const uint64_t ABOVE_VALUE = ((uint64_t)1 << TIES_SHIFT) - 1;

template <typename Element> struct filter_sizes {
    static const uint32_t ITEMS = SORT_FILTER_ITEMS;
    static const uint32_t TILE = SORT_THREADS * ITEMS;
    static_assert(TILE < 1 << 16, "counts of a tile's elements share a word of 32 bits");
};

struct filter_tile {
    int64_t in_group;
    struct row r;
    int64_t number, first; /* in its row: the tile, its first element */
    uint32_t count;        /* elements */
    bool all_taken;        /* no tile remains */
    bool is_end;           /* the last one of the row that has elements */
    uint64_t threshold;
    int64_t ties;
};

struct filter_shared {
    struct search_shared search;           /* its counters are those of the digits, too */
    simt_shared<uint64_t> base;            /* of the tile: what comes before it, packed as in look-back */
    simt_shared<uint64_t> range;           /* the greatest distance from the threshold */
    simt_shared<struct filter_tile> tiles; /* 3: in work, loaded, drawn */
};

template <typename Element> TOPK_HOST_DEVICE struct filter_shared carve_filter(simt_arena &arena) {
    struct filter_shared s = {};
    s.search = carve_search<Element>(arena);
    s.base = simt_carve<uint64_t>(arena, 1);
    s.range = simt_carve<uint64_t>(arena, 1);
    s.tiles = simt_carve<struct filter_tile>(arena, 3);
    return s;
}

/* ---- Tiles ---- */

/* Whether so many survivors are too few for the row's results, or too many for its lists. */
TOPK_DEVICE bool has_misled(const struct sort_args &a, const struct row &r, uint64_t survivors) {
    return survivors < (uint64_t)r.k || survivors > (uint64_t)a.filter.room;
}

/* The next tile, by ticket. One thread. */
template <typename Element> TOPK_DEVICE struct filter_tile draw_filter_tile(const struct sort_args &a) {
    const int64_t TILE = filter_sizes<Element>::TILE;
    struct filter_tile t = {};
    while (true) {
        const int64_t ticket = (int64_t)simt_atomic_add(a.filter.ticket, (uint64_t)1);
        t.all_taken = ticket >= a.group_rows * a.filter.tiles;
        if (t.all_taken)
            return t;
        t.in_group = ticket / a.filter.tiles;
        t.number = ticket % a.filter.tiles;
        t.r = row_of(a, a.first_row + t.in_group);
        const int64_t length = t.r.k > 0 ? t.r.length : 0;
        t.first = t.number * TILE;
        const int64_t remaining = length - t.first;
        if (remaining <= 0 ||
            (a.filter.again && !has_misled(a, t.r, simt_load_relaxed(&a.filter.survivors[t.in_group]))))
            continue;
        t.count = (uint32_t)(remaining < TILE ? remaining : TILE);
        t.is_end = remaining <= TILE;
        if (!a.filter.again) {
            t.threshold = a.filter.thresholds[t.in_group];
            t.ties = a.filter.ties[t.in_group];
        }
        return t;
    }
}

/* A thread's elements of a tile: item i is element (warp * ITEMS + i) * 32 + lane. */
template <typename Element> struct filter_items {
    Element bits[filter_sizes<Element>::ITEMS];

    static TOPK_MEMBER uint32_t first(void) {
        return simt_warp() * SIMT_WARP * filter_sizes<Element>::ITEMS + simt_lane();
    }
    TOPK_MEMBER void load(const struct sort_args &a, simt_shared<struct filter_tile> tile) {
        const struct filter_tile t = tile[0];
        if (t.all_taken)
            return;
        const Element *from = row_values<Element>(a.rows, t.r) + t.first + first();
#pragma unroll
        for (uint32_t i = 0; i < filter_sizes<Element>::ITEMS; i++)
            bits[i] = first() + i * SIMT_WARP < t.count ? from[i * SIMT_WARP] : (Element)0;
    }
};

/* ---- Counts ---- */

/* No barrier inside. */
template <typename Element> TOPK_DEVICE void clear_counters(const struct filter_shared &s) {
    const uint32_t words = pass_sizes<Element>::PASSES * SORT_BINS * pass_sizes<Element>::COPIES;
    for (uint32_t i = simt_thread(); i < words; i += simt_threads())
        s.search.counters[i] = 0;
}

/* Adds what the block has counted of a row, if any, to the row's counts, and begins anew. All threads; begins
 * and ends with a barrier. */
template <typename Element>
TOPK_DEVICE void end_counts(const struct sort_args &a, const struct filter_shared &s, int64_t in_group,
                            key_word_t<Element> range) {
    const uint64_t of_warp = simt_reduce_max(SIMT_ALL_LANES, range);
    simt_block_sync();
    if (simt_thread() == 0)
        s.range[0] = 0;
    if (in_group >= 0)
        add_counts<Element>(a, s.search.counters, in_group);
    simt_block_sync();
    if (simt_lane() == 0)
        simt_atomic_max(&s.range[0], of_warp);
    clear_counters<Element>(s);
    simt_block_sync();
    if (simt_thread() == 0 && in_group >= 0)
        simt_atomic_max(&a.filter.ranges[in_group], (uint64_t)s.range[0]);
}

/* ---- Rows whose threshold misled ---- */

/* All keys of a row. */
template <typename Element> struct keys_of_row {
    const struct sort_args &a;
    const struct row &r;

    template <typename Work> TOPK_MEMBER void for_each(const Work &work) const {
        const Element *values = row_values<Element>(a.rows, r);
#pragma unroll 4
        for (int64_t at = simt_thread(); at < r.length; at += simt_threads())
            work(key_of<Element>(values[at], a.rows.map));
    }
};

/* The block of the first tile finds the k-th key, and forgets what has been counted; other blocks wait for
 * it. The threshold becomes the tile's. The counters are free. All threads; ends with a
 * barrier. */
template <typename Element>
TOPK_DEVICE void settle_row(const struct sort_args &a, const struct filter_shared &s,
                            simt_shared<struct filter_tile> tile) {
    const struct filter_tile t = tile[0];
    if (t.number == 0) {
        const int64_t bins = pass_sizes<Element>::PASSES * SORT_BINS, words = a.filter.pitch;
        TOPK_REACHED(REACHED_SORT_MISLED);
        simt_block_sync();
        const ranked_key<key_word_t<Element>> found =
            key_of_rank<Element>(s.search, keys_of_row<Element>{a, t.r}, (uint32_t)t.r.k);
        for (int64_t i = simt_thread(); i < bins; i += simt_threads())
            a.counts[t.in_group * bins + i] = 0;
        for (int64_t i = simt_thread(); i < words; i += simt_threads())
            a.filter.words[t.in_group * words + i] = 0;
        if (simt_thread() == 0) {
            a.filter.ranges[t.in_group] = 0;
            a.filter.thresholds[t.in_group] = found.key;
            a.filter.ties[t.in_group] = t.r.k - (int64_t)found.above;
        }
        clear_counters<Element>(s);
        simt_block_sync();
        if (simt_thread() == 0)
            simt_store_release(&a.filter.exact[t.in_group], 1);
    }
    simt_block_sync();
    if (simt_thread() == 0) {
        while (simt_load_acquire(&a.filter.exact[t.in_group]) == 0) {
        }
        struct filter_tile settled = t;
        settled.threshold = a.filter.thresholds[t.in_group];
        settled.ties = a.filter.ties[t.in_group];
        tile[0] = settled;
    }
    simt_block_sync();
}

#endif
