/* SPDX-License-Identifier: Apache-2.0
 * The pass over rows that do not lie in memory end to end: a tile may have parts of several. */
#ifndef TOPK_SRC_CUDA_COMPACT_RAGGED_CUH
#define TOPK_SRC_CUDA_COMPACT_RAGGED_CUH

#include "../lookback.cuh"
#include "hits.cuh"
#include "results.cuh"

struct ragged_shared {
    simt_shared<uint32_t> scratch; /* one for each warp */
    simt_shared<uint64_t> words;   /* 4 for ragged_tile(), the unit, and what is before it */
    simt_shared<uint16_t> list;
};

template <typename Source> TOPK_HOST_DEVICE struct ragged_shared carve_ragged(simt_arena &arena) {
    struct ragged_shared s = {};
    s.scratch = simt_carve<uint32_t>(arena, SIMT_WARP);
    s.words = simt_carve<uint64_t>(arena, 4 + 2);
    s.list = simt_carve<uint16_t>(arena, compact_shape<Source>::TILE);
    return s;
}

/* list_hits() for the bits of hits_of_several(). All lanes. */
template <typename Source>
TOPK_DEVICE void list_several(simt_shared<uint16_t> list, uint32_t hits, uint32_t before) {
    const uint32_t ITEMS = compact_shape<Source>::ITEMS, lower = (1u << simt_lane()) - 1;
    for (uint32_t i = 0; i < ITEMS; i++) {
        uint32_t word = simt_shuffle(SIMT_ALL_LANES, hits, i), at = simt_shuffle(SIMT_ALL_LANES, before, i);
        if ((word >> simt_lane() & 1) != 0)
            list[at + simt_popc(word & lower)] =
                (uint16_t)((simt_warp() * ITEMS + i) * SIMT_WARP + simt_lane());
    }
}

/* A unit is one tile, unless rows overlap so much that there would be too many units. Then a unit has several
 * tiles, and its block reads them twice: first it counts their hits. */
struct compact_units {
    int64_t total, tiles, of_unit, count;
};

template <typename Source> TOPK_DEVICE struct compact_units units_of(const struct compact_args &a) {
    const int64_t step = compact_shape<Source>::STEP;
    struct compact_units u;
    u.total = a.starts[a.rows.rows];
    u.tiles = u.total <= step ? 1 : (u.total - 1) / step + 1;
    u.of_unit = (u.tiles - 1) / a.word_count + 1;
    u.count = (u.tiles - 1) / u.of_unit + 1;
    return u;
}

/* All threads, as all below. */
template <typename Source>
TOPK_DEVICE struct compact_tile tile_at(const struct compact_args &a, const struct ragged_shared &s,
                                        const struct compact_units &u, int64_t tile) {
    const int64_t step = compact_shape<Source>::STEP, from = tile * step;
    int64_t to = u.total - from < step ? u.total : from + step;
    simt_shared<uint64_t> found = s.words;
    return ragged_tile<Source>(a, found, from, to, u.total);
}

/* Counts the hits of a tile, and lists them if `lists`. */
template <typename Source>
TOPK_DEVICE uint32_t scan_tile(const struct compact_args &a, const struct ragged_shared &s,
                               const compact_source<Source> &source, const struct compact_tile &t,
                               bool lists) {
    typedef compact_shape<Source> shape;
    if (t.is_single) {
        uint32_t of_warp, count, bits = source.hits(source.load(t)) & source.inside(t);
        const struct ranked_bits hits = rank_bits(gather_bits<shape::PER, shape::GROUPS>(bits), &of_warp);
        uint32_t before = scan_of_warps(s.scratch, of_warp, &count);
        if (lists)
            list_hits<shape::ITEMS>(s.list, hits, before, count > shape::TILE / MANY_HITS);
        return count;
    }
    TOPK_REACHED(REACHED_COMPACT_SEVERAL_ROWS);
    uint32_t count, bits = hits_of_several(a, source, t),
                    before = block_scan(s.scratch, simt_popc(bits), &count);
    if (lists)
        list_several<Source>(s.list, bits, before);
    return count;
}

template <typename Source>
TOPK_DEVICE void run_unit(const struct compact_args &a, const struct ragged_shared &s,
                          const compact_source<Source> &source, const struct compact_units &u, int64_t unit) {
    const int64_t first = unit * u.of_unit, end = u.tiles - first < u.of_unit ? u.tiles : first + u.of_unit;
    bool counting = u.of_unit > 1;
    if (counting)
        TOPK_REACHED(REACHED_COMPACT_UNITS);
    uint64_t sum = 0, base = 0;
    for (int64_t tile = first; tile < end;) {
        struct compact_tile t = tile_at<Source>(a, s, u, tile);
        uint32_t count = scan_tile(a, s, source, t, !counting);
        if (!counting && tile == first && simt_warp() == 0) {
            sum = u.of_unit > 1 ? sum : count;
            const struct sum_words words = sum_words_of(a.words, a.word_count);
            if (simt_lane() == 0)
                publish_sum(words, unit, sum);
            uint64_t before = look_back(words, unit, sum, look_ahead(words, unit));
            if (simt_lane() == 0)
                s.words[5] = before;
        }
        simt_block_sync();
        if (counting) {
            sum += count;
        } else {
            base = tile == first ? (uint64_t)s.words[5] : base;
            write_tile<COMPACT_RAGGED_THREADS>(a, s.list, t, base, count);
            base += count;
            simt_block_sync();
        }
        tile++;
        if (counting && tile == end) {
            counting = false;
            tile = first;
        }
    }
}

template <typename Source>
TOPK_KERNEL TOPK_BOUNDS(COMPACT_RAGGED_THREADS,
                        COMPACT_RAGGED_BLOCKS_PER_SM) void compact_ragged(struct compact_args a) {
    simt_arena arena = simt_shared_arena();
    struct ragged_shared s = carve_ragged<Source>(arena);
    simt_wait_predecessor();
    const compact_source<Source> source = compact_source<Source>::of(a);
    const struct compact_units u = units_of<Source>(a);
    while (true) {
        if (simt_thread() == 0)
            s.words[4] = simt_atomic_add(&a.tickets[1], (uint64_t)1);
        simt_block_sync();
        int64_t unit = (int64_t)(uint64_t)s.words[4];
        if (unit >= u.count)
            return;
        run_unit(a, s, source, u, unit);
    }
}

#endif
