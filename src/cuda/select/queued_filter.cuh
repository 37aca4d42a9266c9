/* SPDX-License-Identifier: Apache-2.0
 * The filter with queues: warps collect hits, which are rare, until it pays to take slots for them. */
#ifndef TOPK_SRC_CUDA_SELECT_QUEUED_FILTER_CUH
#define TOPK_SRC_CUDA_SELECT_QUEUED_FILTER_CUH

#include "filter.cuh"
#include "queue.cuh"

template <typename Element, typename Winners, typename Candidates> struct hit_queues {
    hit_sinks<Winners, Candidates> sinks;
    hit_queue<Element> winners, candidates;
    uint32_t tiles; /* that the warp has filtered; counted if Candidates::HAS_LIMIT */
};

/* The memory of both queues of all warps. */
template <typename Element> struct queues_memory { queue_memory<Element> winners, candidates; };

template <typename Element>
TOPK_HOST_DEVICE queues_memory<Element> carve_queues(simt_arena &arena, uint32_t warps) {
    queues_memory<Element> m;
    m.winners = carve_queue<Element>(arena, warps);
    m.candidates = carve_queue<Element>(arena, warps);
    return m;
}

template <typename Element, typename Winners, typename Candidates>
TOPK_DEVICE hit_queues<Element, Winners, Candidates>
queues_over(const queues_memory<Element> &memory, const Winners &winners, const Candidates &candidates) {
    return hit_queues<Element, Winners, Candidates>{
        {winners, candidates}, {memory.winners, 0}, {memory.candidates, 0}, 0};
}

/* A bit for each group of a tile in which any lane of the warp has a hit. */
template <typename Element, typename Tile>
TOPK_DEVICE uint32_t groups_with_hits(const Tile &of_any_kind, const code_range<Element> &range) {
    uint32_t groups = 0;
    branch_once(of_any_kind, [&](const auto &tile) TOPK_LAMBDA {
#pragma unroll
        for (uint32_t g = 0; g < Tile::GROUPS; g++) {
            bool hit = false;
#pragma unroll
            for (uint32_t e = 0; e < Tile::PER; e++)
                hit |= range.is_hit(range.code(tile.bits(g, e))) && is_match(tile, g, e);
            groups |= hit && tile.valid(g) ? 1u << g : 0;
        }
    });
    return simt_reduce_or(SIMT_ALL_LANES, groups);
}

/* Filters a tile. All lanes. */
template <typename Element, typename Tile, typename Winners, typename Candidates>
TOPK_DEVICE void filter_tile(const Tile &tile, const code_range<Element> &range,
                             hit_queues<Element, Winners, Candidates> &queues) {
    uint32_t groups = groups_with_hits<Element>(tile, range);
    if (groups == 0)
        return;
#pragma unroll
    for (uint32_t g = 0; g < Tile::GROUPS; g++) {
        if ((groups >> g & 1) == 0)
            continue;
#pragma unroll 1
        for (uint32_t e = 0; e < Tile::PER; e++) {
            key_word_t<Element> bits = tile.bits(g, e), code = range.code(bits);
            int64_t position = tile.position(g, e);
            bool counts = tile.valid(g) && is_match(tile, g, e);
            push_hits(queues.winners, counts && range.is_below(code), bits, position, queues.sinks.winners);
            push_hits(queues.candidates, counts && range.holds(code) && !queues.sinks.candidates.is_full(),
                      bits, position, queues.sinks.candidates);
        }
    }
}

template <typename Element, typename Winners, typename Candidates>
TOPK_DEVICE void drain(hit_queues<Element, Winners, Candidates> &queues) {
    drain_queue(queues.winners, queues.sinks.winners);
    drain_queue(queues.candidates, queues.sinks.candidates);
}

/* In a long row a warp asks now and then whether all ties are found, which it cannot know if it found few.
 * Then it empties its queue of winners, so that all warps can know when these are found, too. */
template <typename Element, typename Winners, typename Candidates>
TOPK_DEVICE bool has_all(hit_queues<Element, Winners, Candidates> &queues) {
    if constexpr (Candidates::HAS_LIMIT) {
        hit_sinks<Winners, Candidates> &sinks = queues.sinks;
        if (queues.tiles++ % SELECT_ASKING_TILES == SELECT_ASKING_TILES / 2) {
            sinks.candidates.full |= sinks.candidates.ask();
            if (sinks.candidates.is_full()) {
                if (queues.winners.count > 0)
                    TOPK_REACHED(REACHED_SELECT_EMPTIED_QUEUE);
                drain_queue(queues.winners, sinks.winners);
            }
        }
        return has_all(sinks);
    }
    return false;
}

#endif
