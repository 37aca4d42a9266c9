/* SPDX-License-Identifier: Apache-2.0
 * The pass over rows that lie in memory end to end, or over one row. */
#ifndef TOPK_SRC_CUDA_COMPACT_DENSE_CUH
#define TOPK_SRC_CUDA_COMPACT_DENSE_CUH

#include "../tile_loop.cuh"
#include "hits.cuh"
#include "results.cuh"

/* The tiles, for tile_loop.cuh. */
template <typename Source> struct dense_tiles {
    typedef compact_shape<Source> shape;
    typedef compact_raw<Source> raw;
    static const uint32_t THREADS = shape::THREADS, ITEMS = shape::ITEMS;
    const struct compact_args &a;
    compact_source<Source> source;
    uint32_t first_full, end_full; /* full tiles have an element at each offset */
    bool plain;                    /* one row, and the results are positions of 32 bits alone */
    int32_t first_index;           /* of offset 0 of tile 0, if plain */
    bool wanted;                   /* the list is: for results, or to tell rows apart */

    TOPK_MEMBER bool lists(void) const {
        return wanted;
    }
    TOPK_MEMBER bool is_full(uint32_t tile) const {
        return tile >= first_full && tile < end_full;
    }
    TOPK_MEMBER void load(uint32_t tile, raw &to) const {
        to = is_full(tile) ? source.load_full(a, tile) : source.load(dense_tile<Source>(a, tile));
    }
    TOPK_MEMBER uint32_t hits(uint32_t tile, const raw &from) const {
        uint32_t bits = source.hits(from);
        if (!is_full(tile))
            bits &= source.inside(dense_tile<Source>(a, tile));
        return gather_bits<shape::PER, shape::GROUPS>(bits);
    }
    TOPK_MEMBER void write(uint32_t tile, simt_shared<uint16_t> list, uint64_t base, uint32_t count) const {
        if (plain)
            write_positions<shape::WORKERS>((int32_t *)a.rows.out_indices + base, list,
                                            (int32_t)(tile * shape::DENSE_TILE) + first_index,
                                            fitting_hits(a, base, count));
        else if (a.rows.rows > 1)
            write_tile<shape::WORKERS>(a, list, dense_tile<Source>(a, tile), base, count);
        else if (wanted)
            write_hits<shape::WORKERS>(a, list, dense_tile<Source>(a, tile), base,
                                       fitting_hits(a, base, count));
        if (simt_thread() == 0 && a.offsets != nullptr && a.rows.rows == 1)
            write_ends(tile, base, count);
    }
    /* The two offsets of the only row. */
    TOPK_MEMBER void write_ends(uint32_t tile, uint64_t base, uint32_t count) const {
        const int64_t end = ((int64_t)tile + 1) * shape::DENSE_TILE - behind_line<Source>(a, 0);
        if (tile == 0)
            a.offsets[0] = 0;
        if (end >= a.total)
            a.offsets[1] = (int64_t)(base + count);
    }
};

template <typename Source>
TOPK_DEVICE struct dense_tiles<Source> dense_tiles_of(const struct compact_args &a) {
    const int64_t size = compact_shape<Source>::DENSE_TILE, behind = behind_line<Source>(a, 0);
    const bool one_row = a.rows.rows == 1, indices = a.rows.out_indices != nullptr;
    return dense_tiles<Source>{a,
                               compact_source<Source>::of(a),
                               behind > 0,
                               (uint32_t)((a.total + behind) / size),
                               one_row &&indices &&wants_positions(a.rows),
                               (int32_t)(a.rows.index_base - behind),
                               !one_row || indices || a.rows.out_values != nullptr};
}

template <typename Source>
TOPK_KERNEL TOPK_BOUNDS(compact_shape<Source>::THREADS,
                        compact_shape<Source>::BLOCKS_PER_SM) void compact_dense(struct compact_args a) {
    const int64_t size = compact_shape<Source>::DENSE_TILE, behind = behind_line<Source>(a, 0);
    const uint32_t tiles = (uint32_t)((a.total + behind - 1) / size + 1);
    simt_arena arena = simt_shared_arena();
    struct tile_shared s = carve_tiles<dense_tiles<Source>>(arena);
    simt_wait_predecessor();
    run_tiles(dense_tiles_of<Source>(a),
              tile_sequence{&a.tickets[1], sum_words_of(a.words, a.word_count), tiles}, s);
}

#endif
