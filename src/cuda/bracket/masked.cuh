/* SPDX-License-Identifier: Apache-2.0
 * A mask that is read with the row, each chunk's part while the chunk before it is worked on. */
#ifndef TOPK_SRC_CUDA_BRACKET_MASKED_CUH
#define TOPK_SRC_CUDA_BRACKET_MASKED_CUH

#include "../predicate/masks.cuh"
#include "listing.cuh"

/* A chunk's part of a mask. */
template <typename Element, typename Shape> struct chunk_mask {
    static const uint32_t PER = tile_shape<Element>::PER, GROUPS = tile_shape<Element>::GROUPS;
    static const uint32_t TILES = Shape::LANE_GROUPS / GROUPS, OF_TILE = GROUPS * SIMT_WARP;
    mask_part<Element> parts[TILES];

    /* Groups of tile i in a chunk of `groups`: the warp's, and the lane's. */
    static TOPK_MEMBER uint32_t groups_here(uint32_t i, uint32_t groups) {
        const uint32_t rest = groups > i * OF_TILE ? groups - i * OF_TILE : 0;
        return rest < OF_TILE ? rest : (uint32_t)OF_TILE;
    }
    static TOPK_MEMBER uint32_t groups_of_lane(uint32_t here) {
        return (here + SIMT_WARP - 1 - simt_lane()) / SIMT_WARP;
    }
    /* Begins to load it. The lane's first element of the chunk is element `index` of the input. */
    TOPK_MEMBER void load(const struct predicate_args &p, int64_t index, uint32_t groups) {
#pragma unroll
        for (uint32_t i = 0; i < TILES; i++) {
            const uint32_t here = groups_here(i, groups);
            parts[i] = mask_part<Element>{};
            parts[i].load((const uint8_t *)p.mask, p.mask_has_bits, index + i * OF_TILE * PER, here,
                          groups_of_lane(here));
        }
    }
};

/* What of a chunk a mask lets through. */
template <typename Element, typename Shape> struct loaded_matches {
    typedef chunk_mask<Element, Shape> shape;
    uint32_t of_tiles[shape::TILES]; /* bit group * PER + element */

    static TOPK_MEMBER loaded_matches of(const chunk_mask<Element, Shape> &mask,
                                         const struct predicate_args &p, int64_t index, uint32_t groups) {
        loaded_matches matches;
#pragma unroll
        for (uint32_t i = 0; i < shape::TILES; i++)
            matches.of_tiles[i] =
                mask.parts[i].matches(p.mask_has_bits, index + i * shape::OF_TILE * shape::PER,
                                      shape::groups_of_lane(shape::groups_here(i, groups)));
        return matches;
    }
    TOPK_MEMBER uint32_t of_group(uint32_t group) const {
        uint32_t tile = of_tiles[0];
#pragma unroll
        for (uint32_t i = 1; i < shape::TILES; i++)
            tile = group / shape::GROUPS == i ? of_tiles[i] : tile;
        return tile >> group % shape::GROUPS * shape::PER & ((1u << shape::PER) - 1);
    }
    TOPK_MEMBER bool are_known(void) const {
        return true;
    }
    TOPK_MEMBER uint32_t among_lane(uint32_t hits) const {
        uint32_t matches = 0;
#pragma unroll
        for (uint32_t i = 0; i < shape::TILES; i++)
            matches |= of_tiles[i] << i * shape::GROUPS * shape::PER;
        return hits & matches;
    }
    TOPK_MEMBER uint32_t groups(void) const {
        uint32_t found = 0;
#pragma unroll
        for (uint32_t i = 0; i < Shape::LANE_GROUPS; i++)
            found |= (uint32_t)(of_group(i) != 0) << i;
        return found;
    }
    TOPK_MEMBER uint32_t among(uint32_t group, const body_tile<Element> &, uint32_t hits) const {
        return hits & of_group(group);
    }
};

/* Whether the predicate is a mask that costs less when all of it is read than when it is asked, each time for
 * a sector of memory. So it is where few elements match and the threshold is low. */
template <typename Element, typename Shape>
TOPK_DEVICE bool reads_mask(const bracket_task<Element, Shape> &t) {
    const struct predicate_args &p = t.a.predicate;
    if (!p.is_given || p.mask == nullptr)
        return false;
    return t.m.matching[0] < BRACKET_ASKED * rank_of_threshold(t, sample_size(t));
}

/* Reads the block's share of a row, and of the mask a chunk ahead. Its first chunks are on their way. All
 * threads. */
template <typename Element, typename Shape>
TOPK_NOINLINE struct ring_turns stream_masked(const struct bracket_args &a, int64_t row,
                                              struct ring_turns turns, key_word_t<Element> key,
                                              uint32_t scale, bool is_plateau) {
    const bracket_task<Element, Shape> t = task_of<Element, Shape>(a, row);
    const row_threshold<Element> threshold = {key, scale, is_plateau};
    const struct row_parts parts = parts_of(t.values(), t.r.length);
    search<Element> search = search_of(t, threshold);
    chunk_reader<Element, Shape> chunks = chunk_reader<Element, Shape>::of(t);
    chunk_mask<Element, Shape> ahead;
    TOPK_REACHED(REACHED_BRACKET_GPU_MASK_READ);
    const auto index_in = [&](uint32_t chunk) TOPK_LAMBDA -> int64_t {
        const int64_t group = (int64_t)chunk * Shape::CHUNK + simt_lane();
        return t.r.begin + parts.head + group * body_tile<Element>::PER;
    };
    const auto load_ahead = [&](uint32_t chunk) TOPK_LAMBDA {
        ahead.load(a.predicate, index_in(chunk), chunk < chunks.chunks ? chunks.groups_of(chunk) : 0);
    };
    chunks.next += chunks.step * (turns.copied - turns.taken);
    load_ahead(chunks.now);
    chunks.read(&turns, [&](uint32_t chunk, uint32_t first, uint32_t groups) TOPK_LAMBDA {
        const loaded_matches<Element, Shape> matches =
            loaded_matches<Element, Shape>::of(ahead, a.predicate, index_in(chunk), groups);
        load_ahead(chunk + chunks.step);
        if (search.lists)
            list_chunk(t, threshold, ring_chunk_of<Element, Shape>(parts, chunk, first, groups), &search,
                       matches);
        simt_warp_sync(SIMT_ALL_LANES);
        leave_wanted_ties(&search);
        return search.lists;
    });
    return turns;
}

/* The same, if it costs less; else returns false. Elements of one byte are left out, since a mask of bytes
 * would double what is read. */
template <typename Element, typename Shape>
TOPK_DEVICE bool stream_with_mask(const bracket_task<Element, Shape> &t, struct ring_turns *turns,
                                  const row_threshold<Element> &threshold) {
    if constexpr (sizeof(Element) > 1) {
        if (reads_mask(t)) {
            *turns = stream_masked<Element, Shape>(t.a, t.row, *turns, threshold.key, threshold.scale,
                                                   threshold.is_plateau);
            return true;
        }
    }
    return false;
}

#endif
