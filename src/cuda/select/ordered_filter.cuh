/* SPDX-License-Identifier: Apache-2.0
 * The filter, block by block and in the order of positions. All winners are taken, and the first of the
 * candidates. Prefixes say what comes before a tile and which tile is next: a running sum if a block has a
 * row to itself, look-back (ordered_lookback.cuh) if blocks share it. */
#ifndef TOPK_SRC_CUDA_SELECT_ORDERED_FILTER_CUH
#define TOPK_SRC_CUDA_SELECT_ORDERED_FILTER_CUH

#include "histogram.cuh"

/* Winners and ties, before a tile or in all that is wanted of a row. */
struct hit_totals {
    uint64_t winners, ties;
};

/* Counts the hits of each group: winners low, candidates high (rank_hits()). Returns 0 if there are none. */
template <typename Element, typename Tile>
TOPK_DEVICE uint32_t count_hits(const Tile &tile, const code_range<Element> &range,
                                uint32_t (&counts)[Tile::GROUPS]) {
    uint32_t any = 0;
#pragma unroll
    for (uint32_t g = 0; g < Tile::GROUPS; g++) {
        counts[g] = 0;
        if (!tile.valid(g))
            continue;
#pragma unroll
        for (uint32_t e = 0; e < Tile::PER; e++) {
            key_word_t<Element> code = range.code(tile.bits(g, e));
            bool matches = is_match(tile, g, e);
            counts[g] += hit_counts(matches && range.is_below(code), matches && range.holds(code));
        }
        any |= counts[g];
    }
    return any;
}

/* Puts the hits of a tile into their slots: each comes behind all winners and all ties taken before it.
 * `before` counts those before the tile, counts[] those before each group. */
template <typename Element, typename Tile, typename Target>
TOPK_DEVICE void put_in_order(const Tile &tile, const code_range<Element> &range,
                              const uint32_t (&counts)[Tile::GROUPS], const struct hit_totals &before,
                              uint64_t need, const Target &target) {
#pragma unroll
    for (uint32_t g = 0; g < Tile::GROUPS; g++) {
        uint32_t winners = low_hits(counts[g]), ties = high_hits(counts[g]);
        if (!tile.valid(g))
            continue;
        for (uint32_t e = 0; e < Tile::PER; e++) {
            key_word_t<Element> bits = tile.bits(g, e), code = range.code(bits);
            bool matches = is_match(tile, g, e);
            bool wins = matches && range.is_below(code), ties_it = matches && range.holds(code);
            const uint64_t tied = before.ties + ties;
            if (wins || (ties_it && tied < need))
                target.put(before.winners + winners + (tied < need ? tied : need), bits, tile.position(g, e));
            winners += wins;
            ties += ties_it;
        }
    }
}

template <typename Element, typename Tile, typename Prefixes, typename Target>
TOPK_DEVICE void filter_in_order(const Tile &tile, int64_t number, const code_range<Element> &range,
                                 Prefixes &prefixes, const Target &target) {
    uint32_t counts[Tile::GROUPS];
    uint32_t any = count_hits<Element>(tile, range, counts);
    if (Prefixes::SKIPS && simt_block_count(any != 0) == 0)
        return;
    uint32_t total = rank_hits(prefixes.scratch, counts);
    const struct hit_totals before = prefixes.before(number, total);
    if (any != 0)
        put_in_order(tile, range, counts, before, prefixes.wanted.ties, target);
}

/* Filters the tiles that prefixes.next() hands out: 0 is the head of the row, the last one its tail. */
template <typename Element, typename Source, typename Prefixes, typename Target>
TOPK_DEVICE void filter_row_in_order(const Source &source, const code_range<Element> &range,
                                     Prefixes &prefixes, const Target &target) {
    struct row_parts parts = parts_of(source.values(), source.r.length);
    int64_t tiles = tiles_of<Element>(parts);
    while (true) {
        int64_t number = prefixes.next();
        if (number < 0 || number > tiles + 1)
            return;
        if (number > 0 && number <= tiles)
            filter_in_order<Element>(source.test(source.fetch(parts, number - 1)), number, range, prefixes,
                                     target);
        else
            filter_in_order<Element>(number == 0 ? source.head(parts) : source.tail(parts), number, range,
                                     prefixes, target);
    }
}

/* Prefixes of a row that one block has to itself. */
struct running_prefixes {
    static const bool SKIPS = true; /* tiles without a hit */
    struct hit_totals wanted;
    simt_shared<uint32_t> scratch; /* of scans */
    struct hit_totals found;
    int64_t tile;

    /* The number of the next tile, or -1 if all hits are found. All threads. */
    TOPK_MEMBER int64_t next(void) {
        if (found.winners < wanted.winners || found.ties < wanted.ties)
            return tile++;
        TOPK_REACHED(REACHED_SELECT_ROW_ALL_FOUND);
        return -1;
    }
    /* What comes before a tile that has `counts` hits. All threads. */
    TOPK_MEMBER struct hit_totals before(int64_t, uint32_t counts) {
        const struct hit_totals before = found;
        found.winners += low_hits(counts);
        found.ties += high_hits(counts);
        return before;
    }
};

#endif
