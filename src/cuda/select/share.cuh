/* SPDX-License-Identifier: Apache-2.0
 * How blocks share a row. */
#ifndef TOPK_SRC_CUDA_SELECT_SHARE_CUH
#define TOPK_SRC_CUDA_SELECT_SHARE_CUH

#include "../predicate/source.cuh"

/* How many blocks share the work, and this one's number among them. */
struct share {
    uint32_t block, blocks;
};

TOPK_DEVICE struct share among_all_blocks(void) {
    return share{simt_block(), simt_blocks()};
}

TOPK_DEVICE struct share for_one_block(void) {
    return share{0, 1};
}

/* Calls work() with the tiles of a source that are the block's share, until is_enough(). AHEAD: a tile is
 * loaded while the one before it is worked on, which takes registers and helps where a multiprocessor has few
 * warps. All threads. */
template <typename Element, bool AHEAD, typename Source, typename Enough, typename Work>
TOPK_DEVICE void for_tiles(const Source &source, struct share share, const Enough &is_enough,
                           const Work &work) {
    struct row_parts parts = parts_of(source.values(), source.r.length);
    int64_t tiles = tiles_of<Element>(parts);
    if (share.block == 0 && parts.head + parts.tail > 0) {
        work(source.head(parts));
        work(source.tail(parts));
    }
    typename Source::fetched_tile fetched = source.fetch(parts, AHEAD ? share.block : tiles);
    for (int64_t tile = share.block; tile < tiles && !is_enough(); tile += share.blocks) {
        typename Source::fetched_tile now = AHEAD ? fetched : source.fetch(parts, tile);
        if (AHEAD)
            fetched = source.fetch(parts, tile + share.blocks);
        work(source.test(now));
    }
}

#endif
