/* SPDX-License-Identifier: Apache-2.0
 * Filters: which elements of a tile are results, which are candidates. One kind goes warp by warp and in no
 * order; the other goes block by block and knows the order of positions. */
#ifndef TOPK_SRC_CUDA_AIR_FILTER_CUH
#define TOPK_SRC_CUDA_AIR_FILTER_CUH

#include "digit.cuh"
#include "entries.cuh"
#include "queue.cuh"

/* ---- Where results go ---- */

/* Result `slot` of a row, in the form that the call wants. */
template <typename Element>
TOPK_DEVICE void put_result(const struct air_args &a, int64_t row, const struct row &r, int64_t slot,
                            key_word_t<Element> bits, int64_t position) {
    if (a.output == AIR_DIRECT) {
        write_result<Element>(a.rows, row, r, slot, (Element)bits, position);
    } else if (a.output == AIR_SORTED) {
        struct entry e = make_entry(a.two_words, key_of<Element>(bits, a.rows.map), position);
        a.entries[row * a.pitch + slot] = e.high;
        if (a.two_words)
            a.entries_low[row * a.pitch + slot] = e.low;
    } else if (a.output == AIR_IN_ORDER) {
        ((Element *)a.found_elements)[row * a.rows.k_max + slot] = (Element)bits;
        if (a.wide)
            ((uint64_t *)a.found_positions)[row * a.rows.k_max + slot] = (uint64_t)position;
        else
            ((uint32_t *)a.found_positions)[row * a.rows.k_max + slot] = (uint32_t)position;
    }
}

/* How the results of a row are told from its candidates when all digits are known. If more are left than
 * needed, and the first ones are to be taken: a few are kept all, for the sort to choose from; otherwise the
 * row is filtered in the order of positions. */
struct last_plan {
    bool in_order;
    uint64_t winners; /* results above the candidates: places 0 to winners - 1, unless in order */
    uint64_t kept;    /* candidates to write: the places after that */
};

TOPK_DEVICE struct last_plan plan_last(const struct air_args &a, uint64_t need, uint64_t candidates,
                                       const struct row &r) {
    bool choose = !a.ties_free && candidates > need;
    bool keep_all = choose && a.output == AIR_SORTED && candidates <= AIR_TIES_KEPT;
    struct last_plan plan;
    plan.in_order = a.output == AIR_IN_ORDER || (choose && !keep_all);
    plan.winners = (uint64_t)r.k - need;
    plan.kept = keep_all ? candidates : need;
    return plan;
}

/* The same for a row that blocks share. Ties that may be any are found in order, too, where that reads less
 * of the input: if all results tie, many more elements do than are needed, but so few that a warp would read
 * long until it had 32 to write. */
TOPK_DEVICE struct last_plan plan_last_of_shared(const struct air_args &a, const struct air_state &state,
                                                 const struct row &r) {
    struct last_plan plan = plan_last(a, state.need, state.candidates, r);
    bool rare = state.candidates < (uint64_t)r.length / AIR_RARE_TIES;
    bool early = state.left == 0 && plan.winners == 0 && state.candidates / 4 > state.need;
    bool is_long = a.tiles > (int64_t)AIR_LONG_FILTER * simt_blocks();
    plan.in_order |= a.ties_free && is_long && early && rare;
    return plan;
}

/* Results that are written by places, in any order. Of more than `limit` candidates only the first to come
 * are taken; once the places are gone, the warp need not look for more. */
template <typename Element, typename Counter> struct result_sink {
    static const bool HAS_LIMIT = true;
    const struct air_args &a;
    int64_t row;
    struct row r;
    Counter counter; /* of places taken */
    uint64_t first;  /* slot of place 0 */
    uint64_t limit;  /* places that there are */
    bool is_full;
    uint32_t asked;

    TOPK_MEMBER uint64_t take(uint32_t count) {
        uint64_t place = take_places(counter, count);
        is_full = place + count >= limit;
        return place;
    }
    TOPK_MEMBER void put(uint64_t place, key_word_t<Element> bits, int64_t position) const {
        if (place < limit)
            put_result<Element>(a, row, r, (int64_t)(first + place), bits, position);
    }
    TOPK_MEMBER bool full(void) const {
        return is_full;
    }
    /* Whether this sink and that of the winners have all they need; asked from time to time. */
    template <typename Winners> TOPK_MEMBER bool complete(const Winners &winners) {
        return is_full && asked++ % 8 == 0 && winners.has_all();
    }
    TOPK_MEMBER bool has_all(void) const {
        uint64_t taken = simt_lane() == 0 ? simt_load_relaxed(counter) : 0;
        return simt_shuffle(SIMT_ALL_LANES, taken, 0) >= limit;
    }
};

/* ---- Warp by warp ---- */

/* Where the hits of a warp lead. */
template <typename Winners, typename Candidates> struct hit_sinks {
    Winners winners;
    Candidates candidates;
};

/* The elements of a tile that count and are at or above `low`, as bits group * PER + element. */
template <typename Element, typename Tile>
TOPK_DEVICE uint32_t find_hits(const Tile &tile, const struct code_map &map, key_word_t<Element> low) {
    static_assert(Tile::GROUPS * Tile::PER <= 32, "a bit for each element of a thread");
    uint32_t hits = 0;
#pragma unroll
    for (uint32_t g = 0; g < Tile::GROUPS; g++) {
        uint32_t here = 0;
#pragma unroll
        for (uint32_t e = 0; e < Tile::PER; e++)
            here |= code_of<Element>(tile.bits(g, e), map) >= low && is_match(tile, g, e)
                        ? 1u << (g * Tile::PER + e)
                        : 0;
        hits |= tile.valid(g) ? here : 0;
    }
    return hits;
}

/* Those of them that are above the range. */
template <typename Element, typename Tile>
TOPK_DEVICE uint32_t find_winners(const Tile &tile, const struct code_map &map, key_range<Element> range,
                                  uint32_t hits) {
    uint32_t winners = 0;
#pragma unroll
    for (uint32_t g = 0; g < Tile::GROUPS; g++) {
#pragma unroll
        for (uint32_t e = 0; e < Tile::PER; e++)
            winners |= range.below(code_of<Element>(tile.bits(g, e), map)) ? 1u << (g * Tile::PER + e) : 0;
    }
    return winners & hits;
}

/* Writes a thread's hits of one kind from `place` on. */
template <typename Element, typename Tile, typename Sink>
TOPK_DEVICE void put_hits(const Tile &tile, uint32_t hits, uint64_t place, const Sink &sink) {
#pragma unroll
    for (uint32_t g = 0; g < Tile::GROUPS; g++) {
#pragma unroll
        for (uint32_t e = 0; e < Tile::PER; e++)
            if (hits >> (g * Tile::PER + e) & 1)
                sink.put(place++, tile.bits(g, e), tile.position(g, e));
    }
}

/* Writes hits of one kind, for which the warp takes its places together. All lanes. */
template <typename Element, typename Tile, typename Sink>
TOPK_DEVICE void put_warp(const Tile &tile, uint32_t hits, Sink &sink) {
    uint32_t mine = simt_popc(hits), upto = warp_scan(mine);
    uint32_t all = simt_shuffle(SIMT_ALL_LANES, upto, SIMT_WARP - 1);
    if (all == 0)
        return;
    uint64_t first = sink.take(all);
    put_hits<Element>(tile, hits, first + upto - mine, sink);
}

/* Writes the hits of a tile at once. All lanes. */
template <typename Element, typename Tile, typename Sinks>
TOPK_DEVICE void put_tile(const Tile &tile, const struct code_map &map, key_range<Element> range,
                          uint32_t hits, Sinks &sinks) {
    uint32_t winners = sinks.winners.limit == 0 ? 0 : find_winners<Element>(tile, map, range, hits);
    put_warp<Element>(tile, winners, sinks.winners);
    if (!sinks.candidates.full())
        put_warp<Element>(tile, hits & ~winners, sinks.candidates);
}

/* Filters a tile where taking places is cheap. All lanes. */
template <typename Element, typename Tile, typename Winners, typename Candidates>
TOPK_DEVICE void filter_tile(const Tile &tile, const struct code_map &map, key_range<Element> range,
                             hit_sinks<Winners, Candidates> &sinks) {
    uint32_t hits = find_hits<Element>(tile, map, range.low);
    if (simt_any(SIMT_ALL_LANES, hits != 0))
        put_tile<Element>(tile, map, range, hits, sinks);
}

template <typename Winners, typename Candidates> TOPK_DEVICE void drain(hit_sinks<Winners, Candidates> &) {
}

/* Sinks where it is not: a warp collects what is rare in queues. */
template <typename Element, typename Winners, typename Candidates> struct hit_queues {
    hit_sinks<Winners, Candidates> sinks;
    hit_queue<Element> winners, candidates;
    uint32_t tiles; /* that the warp has filtered; counted if Candidates::HAS_LIMIT */
};

/* Groups of a tile in which any lane of the warp has an element that counts and is at or above `low`: one bit
 * each. */
template <typename Element, typename Tile>
TOPK_DEVICE uint32_t groups_with_hits(const Tile &of_any_kind, const struct code_map &map,
                                      key_word_t<Element> low) {
    uint32_t groups = 0;
    branch_once(of_any_kind, [&](const auto &tile) {
#pragma unroll
        for (uint32_t g = 0; g < Tile::GROUPS; g++) {
            bool hit = false;
#pragma unroll
            for (uint32_t e = 0; e < Tile::PER; e++)
                hit |= code_of<Element>(tile.bits(g, e), map) >= low && is_match(tile, g, e);
            groups |= hit && tile.valid(g) ? 1u << g : 0;
        }
    });
    return simt_reduce_or(SIMT_ALL_LANES, groups);
}

template <typename Element, typename Tile, typename Winners, typename Candidates>
TOPK_DEVICE void filter_tile(const Tile &tile, const struct code_map &map, key_range<Element> range,
                             hit_queues<Element, Winners, Candidates> &queues) {
    uint32_t groups = groups_with_hits<Element>(tile, map, range.low);
    if (groups == 0)
        return;
#pragma unroll
    for (uint32_t g = 0; g < Tile::GROUPS; g++) {
        if ((groups >> g & 1) == 0)
            continue;
#pragma unroll 1
        for (uint32_t e = 0; e < Tile::PER; e++) {
            key_word_t<Element> bits = tile.bits(g, e), code = code_of<Element>(bits, map);
            int64_t position = tile.position(g, e);
            bool exists = tile.valid(g) && is_match(tile, g, e);
            push_hits(queues.winners, exists && range.below(code), bits, position, queues.sinks.winners);
            push_hits(queues.candidates, exists && range.holds(code) && !queues.sinks.candidates.full(), bits,
                      position, queues.sinks.candidates);
        }
    }
}

template <typename Element, typename Winners, typename Candidates>
TOPK_DEVICE void drain(hit_queues<Element, Winners, Candidates> &queues) {
    drain_queue(queues.winners, queues.sinks.winners);
    drain_queue(queues.candidates, queues.sinks.candidates);
}

/* Whether nothing more is needed. */
template <typename Winners, typename Candidates>
TOPK_DEVICE bool has_all(hit_sinks<Winners, Candidates> &sinks) {
    return sinks.candidates.complete(sinks.winners);
}

/* In a long row a warp asks now and then whether all ties are found, which it cannot know if it found few.
 * Then it empties its queue of winners, so that all warps can know when these are found, too. */
template <typename Element, typename Winners, typename Candidates>
TOPK_DEVICE bool has_all(hit_queues<Element, Winners, Candidates> &queues) {
    if constexpr (Candidates::HAS_LIMIT) {
        hit_sinks<Winners, Candidates> &sinks = queues.sinks;
        if (queues.tiles++ % AIR_ASKING_TILES == AIR_ASKING_TILES / 2) {
            sinks.candidates.is_full |= sinks.candidates.has_all();
            if (sinks.candidates.is_full)
                drain_queue(queues.winners, sinks.winners);
        }
        return has_all(sinks);
    }
    return false;
}

/* Filters this block's part of a row. Out: hit_sinks or hit_queues. AHEAD: as in count_row(). */
template <typename Element, bool AHEAD, typename Source, typename Out>
TOPK_DEVICE void filter_row(const Source &source, uint32_t block, uint32_t blocks, const struct code_map &map,
                            key_range<Element> range, Out &out) {
    struct row_parts parts = parts_of(source.values(), source.r.length);
    int64_t tiles = tiles_of<Element>(parts);
    if (block == 0 && parts.head + parts.tail > 0) {
        filter_tile<Element>(source.head(parts), map, range, out);
        filter_tile<Element>(source.tail(parts), map, range, out);
    }
    typename Source::fetched_tile fetched = source.fetch(parts, AHEAD ? block : tiles);
    for (int64_t tile = block; tile < tiles && !has_all(out); tile += blocks) {
        typename Source::fetched_tile now = AHEAD ? fetched : source.fetch(parts, tile);
        if (AHEAD)
            fetched = source.fetch(parts, tile + blocks);
        filter_tile<Element>(source.test(now), map, range, out);
    }
    drain(out);
}

/* ---- Block by block, in the order of positions ---- */

/* Counts the hits of each group: winners low, candidates high (rank_hits()). */
template <typename Element, typename Tile>
TOPK_DEVICE uint32_t count_hits(const Tile &tile, const struct code_map &map, key_range<Element> range,
                                uint32_t (&counts)[Tile::GROUPS]) {
    uint32_t any = 0;
#pragma unroll
    for (uint32_t g = 0; g < Tile::GROUPS; g++) {
        counts[g] = 0;
        if (!tile.valid(g))
            continue;
#pragma unroll
        for (uint32_t e = 0; e < Tile::PER; e++) {
            key_word_t<Element> code = code_of<Element>(tile.bits(g, e), map);
            bool matches = is_match(tile, g, e);
            counts[g] += hit_counts(matches && range.below(code), matches && range.holds(code));
        }
        any |= counts[g];
    }
    return any;
}

/* Places of hits in the order of positions: before each are all winners before it and all candidates before
 * it, of which the first `need` count. */
struct ordered_places {
    uint64_t winners, ties; /* before this tile */
    uint64_t need;

    TOPK_MEMBER uint64_t winner(uint32_t winners_here, uint32_t ties_here) const {
        uint64_t before = ties + ties_here;
        return winners + winners_here + (before < need ? before : need);
    }
    TOPK_MEMBER bool takes(uint32_t ties_here) const {
        return ties + ties_here < need;
    }
};

/* Writes the hits of a tile; counts[] are those before each group. */
template <typename Element, typename Tile, typename Sink>
TOPK_DEVICE void put_in_order(const Tile &tile, const struct code_map &map, key_range<Element> range,
                              const uint32_t (&counts)[Tile::GROUPS], const struct ordered_places &places,
                              const Sink &sink) {
#pragma unroll
    for (uint32_t g = 0; g < Tile::GROUPS; g++) {
        uint32_t winners = low_hits(counts[g]), ties = high_hits(counts[g]);
        if (!tile.valid(g))
            continue;
        for (uint32_t e = 0; e < Tile::PER; e++) {
            key_word_t<Element> bits = tile.bits(g, e), code = code_of<Element>(bits, map);
            bool matches = is_match(tile, g, e);
            bool wins = matches && range.below(code), ties_it = matches && range.holds(code);
            if (wins || (ties_it && places.takes(ties)))
                sink.put(places.winner(winners, ties), bits, tile.position(g, e));
            winners += wins;
            ties += ties_it;
        }
    }
}

/* ---- The candidate buffer ---- */

/* Elements of the candidate buffer, a few for each thread. */
template <typename Element> struct buffer_tile {
    static const uint32_t PER = 1, GROUPS = 4;
    key_word_t<Element> element[GROUPS];
    int64_t at[GROUPS];
    uint32_t count;

    TOPK_MEMBER bool valid(uint32_t group) const {
        return group < count;
    }
    TOPK_MEMBER key_word_t<Element> bits(uint32_t group, uint32_t) const {
        return element[group];
    }
    TOPK_MEMBER int64_t position(uint32_t group, uint32_t) const {
        return at[group];
    }
};

TOPK_DEVICE int64_t buffered_position(const struct air_args &a, int64_t at) {
    return a.wide ? (int64_t)((const uint64_t *)a.positions)[at]
                  : (int64_t)((const uint32_t *)a.positions)[at];
}

template <typename Element>
TOPK_DEVICE buffer_tile<Element> load_buffer(const struct air_args &a, int64_t row, int64_t tile,
                                             int64_t count, bool positions) {
    buffer_tile<Element> t;
    t.count = 0;
#pragma unroll
    for (uint32_t g = 0; g < buffer_tile<Element>::GROUPS; g++) {
        int64_t i = (tile * buffer_tile<Element>::GROUPS + g) * simt_threads() + simt_thread();
        bool inside = i < count;
        int64_t at = row * a.capacity + i;
        t.element[g] = inside ? ((const Element *)a.candidates)[at] : (Element)0;
        t.at[g] = inside && positions ? buffered_position(a, at) : 0;
        t.count += inside;
    }
    return t;
}

template <typename Element> TOPK_DEVICE int64_t buffer_tiles(int64_t count) {
    int64_t per = (int64_t)simt_threads() * buffer_tile<Element>::GROUPS;
    return (count + per - 1) / per;
}

#endif
