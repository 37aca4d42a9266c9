/* SPDX-License-Identifier: Apache-2.0
 * How blocks share the tiles of a step. */
#ifndef TOPK_SRC_CUDA_MERGE_TAKER_CUH
#define TOPK_SRC_CUDA_MERGE_TAKER_CUH

#include "digits.cuh"

/* The tiles of a step that a block takes, one after another. Where they are many the next one is on its way
 * meanwhile; where there is one for each block, that would leave others none. */
template <typename Element> struct tile_taker {
    const select_task<Element> &t;
    uint32_t step;
    uint64_t tiles;
    bool draws_ahead;
    uint64_t drawn; /* of the first thread, or of the block that is alone */

    TOPK_MEMBER void draw(void) {
        if (t.w != nullptr && simt_thread() == 0)
            drawn = simt_atomic_add(&t.w->taken[step], (uint64_t)1);
    }
    TOPK_MEMBER void begin(void) {
        if (draws_ahead)
            draw();
    }
    /* At least `tiles` if there is none left. */
    TOPK_MEMBER uint64_t take(void) {
        if (t.w == nullptr)
            return drawn++;
        if (!draws_ahead)
            draw();
        simt_block_sync();
        if (simt_thread() == 0)
            t.m.words[0] = drawn;
        simt_block_sync();
        const uint64_t tile = t.m.words[0];
        if (draws_ahead && tile < tiles)
            draw();
        return tile;
    }
};

#endif
