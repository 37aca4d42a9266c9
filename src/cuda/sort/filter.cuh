/* SPDX-License-Identifier: Apache-2.0
 * One read of each row lists its survivors, in the order of positions, and counts their digits.
 *
 * Tiles of all rows are handed out in order. A block loads the next tile while it works on one: it counts the
 * tile's elements above the threshold and those that tie with it, publishes both in one word, counts digits
 * while the tiles before it do the same, looks back, and writes. The last tile of a row tells whether its
 * threshold misled. Such a row is filtered by another launch. */
#ifndef TOPK_SRC_CUDA_SORT_FILTER_CUH
#define TOPK_SRC_CUDA_SORT_FILTER_CUH

#include "../lookback.cuh"
#include "filter_tiles.cuh"

/* ---- Survivors ---- */

/* The warp's elements that are above the threshold, and that tie with it: a bit for each lane. Lane i has how
 * many come before item i in the warp, those above low, ties high. */
template <typename Element> struct filter_ranks {
    uint32_t above[filter_sizes<Element>::ITEMS], equal[filter_sizes<Element>::ITEMS];
    uint32_t before;
};

/* Returns how many the warp has. All lanes. To count bits is slow, so each lane does it for one item. */
template <typename Element>
TOPK_DEVICE uint32_t rank_survivors(const struct sort_args &a, const filter_items<Element> &items,
                                    uint32_t count, key_word_t<Element> threshold,
                                    filter_ranks<Element> &ranks) {
    static_assert(filter_sizes<Element>::ITEMS <= SIMT_WARP, "each item has a lane");
    uint32_t above = 0, equal = 0, total;
#pragma unroll
    for (uint32_t i = 0; i < filter_sizes<Element>::ITEMS; i++) {
        const key_word_t<Element> key = key_of<Element>(items.bits[i], a.rows.map);
        const bool exists = items.first() + i * SIMT_WARP < count;
        ranks.above[i] = simt_ballot(SIMT_ALL_LANES, exists && key > threshold);
        ranks.equal[i] = simt_ballot(SIMT_ALL_LANES, exists && key == threshold);
        above = simt_lane() == i ? ranks.above[i] : above;
        equal = simt_lane() == i ? ranks.equal[i] : equal;
    }
    ranks.before = warp_scan(simt_popc(above) | simt_popc(equal) << 16, &total);
    return total;
}

/* Counts the digits of what is above the threshold. Returns the greatest distance from it, or `range`. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> count_survivors(const struct sort_args &a, const struct filter_shared &s,
                                                const filter_items<Element> &items,
                                                const filter_ranks<Element> &ranks,
                                                key_word_t<Element> threshold, key_word_t<Element> range) {
#pragma unroll
    for (uint32_t i = 0; i < filter_sizes<Element>::ITEMS; i++) {
        if ((ranks.above[i] >> simt_lane() & 1) == 0)
            continue;
        const key_word_t<Element> distance = key_of<Element>(items.bits[i], a.rows.map) - threshold;
        range = distance > range ? distance : range;
        count_digits<Element>(s.search.counters, distance);
    }
    return range;
}

/* Writes the tile's survivors. `before` counts what comes before the warp in its tile, as ranks do. All
 * lanes.
 */
template <typename Element>
TOPK_DEVICE void write_survivors(const struct sort_args &a, const struct filter_tile &t, uint64_t base,
                                 uint32_t before, const filter_items<Element> &items,
                                 const filter_ranks<Element> &ranks) {
    const uint32_t lower = (1u << simt_lane()) - 1;
    Element *elements = (Element *)a.to.elements + t.in_group * a.to.pitch;
    char *positions = (char *)a.to.positions + t.in_group * a.to.pitch * (a.wide ? 8 : 4);
#pragma unroll
    for (uint32_t i = 0; i < filter_sizes<Element>::ITEMS; i++) {
        if ((ranks.above[i] | ranks.equal[i]) == 0)
            continue;
        const uint32_t in_warp = before + simt_shuffle(SIMT_ALL_LANES, ranks.before, i);
        const bool is_above = (ranks.above[i] >> simt_lane() & 1) != 0;
        const bool is_equal = (ranks.equal[i] >> simt_lane() & 1) != 0;
        const int64_t above =
            (int64_t)(base & ABOVE_VALUE) + (in_warp & 0xffff) + simt_popc(ranks.above[i] & lower);
        int64_t equal = (int64_t)(base >> TIES_SHIFT) + (in_warp >> 16);
        if (ranks.equal[i] != 0)
            equal += simt_popc(ranks.equal[i] & lower);
        const int64_t slot = above + (equal < t.ties ? equal : t.ties);
        if ((!is_above && !(is_equal && equal < t.ties)) || slot >= a.filter.room)
            continue;
        const uint64_t position = (uint64_t)t.first + items.first() + i * SIMT_WARP;
        elements[slot] = items.bits[i];
        if (a.wide)
            ((uint64_t *)positions)[slot] = position;
        else
            ((uint32_t *)positions)[slot] = (uint32_t)position;
    }
}

/* Counts the digits of the ties that survive, which are alike, and tells how many elements do if the row ends
 * here. One thread. */
template <typename Element>
TOPK_DEVICE void end_tile(const struct sort_args &a, const struct filter_shared &s,
                          const struct filter_tile &t, uint64_t base, uint32_t total) {
    const int64_t first = (int64_t)(base >> TIES_SHIFT), end = first + (total >> 16);
    const int64_t ties = end < t.ties ? end : t.ties, fresh = ties - (first < t.ties ? first : t.ties);
    if (end > t.ties)
        TOPK_REACHED(REACHED_SORT_CUT);
    for (uint32_t pass = 0; pass < pass_sizes<Element>::PASSES && fresh != 0; pass++)
        simt_atomic_add(&s.search.counters[(pass * SORT_BINS + SORT_BINS - 1) * pass_sizes<Element>::COPIES],
                        (uint32_t)fresh);
    if (!t.is_end)
        return;
    const uint64_t survivors = (base & ABOVE_VALUE) + (total & 0xffff) + (uint64_t)ties;
    simt_store_relaxed(&a.filter.survivors[t.in_group], survivors);
    if (!a.filter.again && has_misled(a, t.r, survivors))
        simt_store_relaxed(a.filter.missed, 1);
}

/* ---- Blocks ---- */

/* A block's way through the tiles. */
template <typename Element> struct filter_block {
    filter_items<Element> loaded;
    int64_t counted; /* the row whose digits are in the counters; -1: none */
    key_word_t<Element> range;

    /* Filters tile s.tiles[turn]. Items of the next one are loaded meanwhile, and the one after it is drawn.
     * All threads; ends with a barrier, behind which only writes remain. */
    TOPK_MEMBER void filter(const struct sort_args &a, const struct filter_shared &s, uint32_t turn) {
        const uint32_t next = turn == 2 ? 0 : turn + 1, after = next == 2 ? 0 : next + 1;
        struct filter_tile t = s.tiles[turn];
        const bool is_fresh = t.in_group != counted;
        if (is_fresh)
            end_counts<Element>(a, s, counted, range);
        if (a.filter.again) {
            settle_row<Element>(a, s, simt_shared_part(s.tiles, turn, 1));
            t = s.tiles[turn];
        }
        const key_word_t<Element> threshold = (key_word_t<Element>)t.threshold;
        const filter_items<Element> items = loaded;
        filter_ranks<Element> ranks;
        uint32_t total;
        range = is_fresh ? 0 : range;
        counted = t.in_group;
        loaded.load(a, simt_shared_part(s.tiles, next, 1));
        const uint32_t of_warp = rank_survivors<Element>(a, items, t.count, threshold, ranks);
        const uint32_t before = scan_of_warps(s.search.scratch, of_warp, &total);
        const uint64_t sum = (total & 0xffff) | (uint64_t)(total >> 16) << TIES_SHIFT;
        const struct sum_words words =
            sum_words_of(a.filter.words + t.in_group * a.filter.pitch, a.filter.tiles);
        if (simt_thread() == 0)
            publish_sum(words, t.number, sum);
        if (simt_thread() == simt_threads() - SIMT_WARP)
            s.tiles[after] = draw_filter_tile<Element>(a);
        range = count_survivors<Element>(a, s, items, ranks, threshold, range);
        if (simt_warp() == 0) {
            const uint64_t base = look_back(words, t.number, sum, look_ahead(words, t.number));
            if (simt_lane() == 0)
                s.base[0] = base;
        }
        simt_block_sync();
        write_survivors<Element>(a, t, s.base[0], before, items, ranks);
        if (simt_thread() == 0)
            end_tile<Element>(a, s, t, s.base[0], total);
    }
};

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(SORT_THREADS, 2) void sort_filter_rows(struct sort_args a) {
    simt_arena arena = simt_shared_arena();
    const struct filter_shared s = carve_filter<Element>(arena);
    simt_wait_predecessor();
    simt_allow_successor();
    if (is_called_off(a.rows) || (a.filter.again && *a.filter.missed == 0))
        return;
    if (simt_thread() == 0)
        s.tiles[0] = draw_filter_tile<Element>(a);
    simt_block_sync();
    struct filter_tile tile = s.tiles[0];
    if (tile.all_taken)
        return;
    if (simt_thread() == 0)
        s.tiles[1] = draw_filter_tile<Element>(a);
    struct filter_block<Element> block = {};
    block.counted = -1;
    block.loaded.load(a, s.tiles);
    simt_block_sync();
    for (uint32_t turn = 0; !tile.all_taken;) {
        TOPK_REACHED(REACHED_SORT_FILTERED);
        block.filter(a, s, turn);
        turn = turn == 2 ? 0 : turn + 1;
        tile = s.tiles[turn];
    }
    end_counts<Element>(a, s, block.counted, block.range);
}

#endif
