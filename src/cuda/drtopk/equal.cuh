/* SPDX-License-Identifier: Apache-2.0
 * How many elements of a row equal its k-th. Where the last delegate of a subrange is worse, all elements
 * that equal the k-th are delegates; other subranges are scanned again. */
#ifndef TOPK_SRC_CUDA_DRTOPK_EQUAL_CUH
#define TOPK_SRC_CUDA_DRTOPK_EQUAL_CUH

#include "concatenate.cuh"

/* The elements of a tile's subranges that equal the key; each lane's share. All threads. */
template <typename Element>
TOPK_DEVICE uint32_t equal_in_tile(const concatenated_row<Element> &w, int64_t tile, key_word_t<Element> key,
                                   const struct tile_memory &s) {
    const own_subrange<Element> own = own_subrange<Element>::in(w, tile);
    uint32_t equal = 0;
    for (uint32_t rank = 0; rank < own.delegates; rank++)
        equal += w.keys(own.number)[rank] == key ? 1 : 0;
    const bool scans = own.has_others(w) && w.keys(own.number)[own.delegates - 1] >= key;
    const scanned_subranges<Element> scanned =
        scanned_subranges<Element>::list(w.of, own.first, scans, false, s);
    const uint32_t of_subrange = scanned.count_wanted(scans, 0, [&](key_word_t<Element> bits) TOPK_LAMBDA {
        return key_of<Element>(bits, w.a.rows.map) == key;
    });
    return scans ? of_subrange : equal;
}

template <typename Element>
TOPK_DEVICE void count_equal(const struct drtopk_args &a, int64_t row, const struct tile_memory &s) {
    const struct row r = row_at(a.rows, row);
    const concatenated_row<Element> w = {a, row, r, subranges_of<Element>(a, r), {}};
    const bool has_kth = r.wanted > 0 && r.wanted <= r.length;
    const key_word_t<Element> key = key_of<Element>(((const Element *)a.kth.values)[row], a.rows.map);
    const int64_t tiles = has_kth ? w.of.count() / a.tile + 1 : 0;
    for (int64_t tile = simt_block(); tile < tiles; tile += simt_blocks()) {
        const uint32_t of_warp = simt_reduce_add(SIMT_ALL_LANES, equal_in_tile(w, tile, key, s));
        if (simt_lane() == 0 && of_warp > 0)
            simt_atomic_add(&a.counts[row], (uint64_t)of_warp);
    }
    if (last_of_blocks(&a.retired[row], s.scratch) && simt_thread() == 0)
        a.kth.equal[row] = (int64_t)simt_load_relaxed(&a.counts[row]);
    simt_block_sync();
}

template <typename Element> TOPK_KERNEL TOPK_BOUNDS(DRTOPK_TILE, 1) void drtopk_equal(struct drtopk_args a) {
    simt_arena arena = simt_shared_arena();
    const struct tile_memory s = carve_tile(arena, a.exponent);
    if (is_called_off(a.rows))
        return;
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        if (row != simt_block_y())
            TOPK_REACHED(REACHED_DRTOPK_EQUAL_NEXT_ROW);
        count_equal<Element>(a, row, s);
    }
}

#endif
