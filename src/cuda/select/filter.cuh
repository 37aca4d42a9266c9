/* SPDX-License-Identifier: Apache-2.0
 * The filter, warp by warp and in no order: which elements of a row are winners, which are candidates. Sinks
 * (sinks.cuh) get them tile by tile, which is best where it is cheap to take slots of a sink; where it is
 * not, queues do (queued_filter.cuh). */
#ifndef TOPK_SRC_CUDA_SELECT_FILTER_CUH
#define TOPK_SRC_CUDA_SELECT_FILTER_CUH

#include "sinks.cuh"

template <typename Winners, typename Candidates> struct hit_sinks {
    Winners winners;
    Candidates candidates;
};

template <typename Winners, typename Candidates>
hit_sinks(Winners, Candidates) -> hit_sinks<Winners, Candidates>;

/* The elements of a tile that count and are not below the range, as bits group * PER + element. */
template <typename Element, typename Tile, typename Range>
TOPK_DEVICE uint32_t find_hits(const Tile &tile, const Range &range) {
    static_assert(Tile::GROUPS * Tile::PER <= 32, "a bit for each element of a thread");
    uint32_t hits = 0;
#pragma unroll
    for (uint32_t g = 0; g < Tile::GROUPS; g++) {
        uint32_t here = 0;
#pragma unroll
        for (uint32_t e = 0; e < Tile::PER; e++)
            here |= range.is_hit(range.code(tile.bits(g, e))) && is_match(tile, g, e)
                        ? 1u << (g * Tile::PER + e)
                        : 0;
        hits |= tile.valid(g) ? here : 0;
    }
    return hits;
}

/* The hits that are above the range. */
template <typename Element, typename Tile, typename Range>
TOPK_DEVICE uint32_t find_winners(const Tile &tile, const Range &range, uint32_t hits) {
    uint32_t winners = 0;
#pragma unroll
    for (uint32_t g = 0; g < Tile::GROUPS; g++) {
#pragma unroll
        for (uint32_t e = 0; e < Tile::PER; e++)
            winners |= range.is_below(range.code(tile.bits(g, e))) ? 1u << (g * Tile::PER + e) : 0;
    }
    return winners & hits;
}

/* Puts a thread's hits of one kind into the slots from `slot` on. */
template <typename Tile, typename Sink>
TOPK_DEVICE void put_hits(const Tile &tile, uint32_t hits, uint64_t slot, const Sink &sink) {
#pragma unroll
    for (uint32_t g = 0; g < Tile::GROUPS; g++) {
#pragma unroll
        for (uint32_t e = 0; e < Tile::PER; e++)
            if (hits >> (g * Tile::PER + e) & 1)
                sink.put(slot++, tile.bits(g, e), tile.position(g, e));
    }
}

/* Puts the hits of one kind; the warp takes their slots together. All lanes. */
template <typename Tile, typename Sink>
TOPK_DEVICE void put_warp(const Tile &tile, uint32_t hits, Sink &sink) {
    uint32_t all, before = warp_scan(simt_popc(hits), &all);
    if (all > 0)
        put_hits(tile, hits, sink.take(all) + before, sink);
}

/* Filters a tile. All lanes. */
template <typename Element, typename Tile, typename Winners, typename Candidates>
TOPK_DEVICE void filter_tile(const Tile &tile, const code_range<Element> &range,
                             hit_sinks<Winners, Candidates> &sinks) {
    uint32_t hits = find_hits<Element>(tile, range);
    if (!simt_any(SIMT_ALL_LANES, hits != 0))
        return;
    uint32_t winners = sinks.winners.limit == 0 ? 0 : find_winners<Element>(tile, range, hits);
    put_warp(tile, winners, sinks.winners);
    if (!sinks.candidates.is_full())
        put_warp(tile, hits & ~winners, sinks.candidates);
}

/* Sends what has been held back. All lanes. */
template <typename Winners, typename Candidates> TOPK_DEVICE void drain(hit_sinks<Winners, Candidates> &) {
}

/* Whether nothing more is needed. All lanes. */
template <typename Winners, typename Candidates>
TOPK_DEVICE bool has_all(hit_sinks<Winners, Candidates> &sinks) {
    bool all = sinks.candidates.has_all(sinks.winners);
    if (all)
        TOPK_REACHED(REACHED_SELECT_WARP_STOPS);
    return all;
}

/* Filters the block's share of a row. Out: hit_sinks or hit_queues. */
template <typename Element, bool AHEAD, typename Source, typename Out>
TOPK_DEVICE void filter_row(const Source &source, struct share share, const code_range<Element> &range,
                            Out &out) {
    for_tiles<Element, AHEAD>(
        source, share, [&] { return has_all(out); },
        [&](const auto &tile) TOPK_LAMBDA { filter_tile<Element>(tile, range, out); });
    drain(out);
}

#endif
