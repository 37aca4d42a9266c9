/* SPDX-License-Identifier: Apache-2.0
 * How blocks stream rows: each warp copies its stages of a row into a ring of its own, and works on one while
 * others are on their way. The next row's stages follow at once. Warps do not wait for each other. */
#ifndef TOPK_SRC_CUDA_RESIDENT_RING_CUH
#define TOPK_SRC_CUDA_RESIDENT_RING_CUH

#include "../rows.cuh"
#include "../select/ring.cuh"
#include "../tiles.cuh"
#include "sizes.h"

typedef warp_rings<RESIDENT_STAGE_GROUPS, RESIDENT_STAGES> stage_rings;

/* A row's whole groups: none, if the row has no results. */
template <typename Element> struct row_body {
    const simt_u32x4 *from;
    uint32_t head, tail; /* elements before and behind them */
    uint32_t groups;

    static TOPK_MEMBER row_body of(const struct row_args &a, const struct row &r) {
        const struct row_parts parts = parts_of(row_values<Element>(a, r), r.length);
        return row_body{(const simt_u32x4 *)(row_values<Element>(a, r) + parts.head), parts.head, parts.tail,
                        r.k == 0 ? 0 : (uint32_t)parts.groups};
    }
};

/* A warp's ring. The warp has every `step`-th stage of each row, from `first` on, and every `teams`-th row.
 */
template <typename Element> struct ring {
    const struct row_args &a;
    stage_rings rings;
    struct ring_turns turns;
    uint32_t first, step, teams;
    int64_t row; /* whose stage `next` is the next to be copied */
    const simt_u32x4 *from;
    uint32_t groups, next;

    TOPK_MEMBER void enter(int64_t to) {
        row = to;
        next = first;
        if (row >= a.rows)
            return;
        const row_body<Element> body = row_body<Element>::of(a, row_at(a, row));
        from = body.from;
        groups = body.groups;
    }
    /* Begins to copy the next stage, if there is one. All lanes, which have left the stage that it replaces.
     */
    TOPK_MEMBER void copy(void) {
        while (row < a.rows && next * RESIDENT_STAGE_GROUPS >= groups)
            enter(row + teams);
        if (row >= a.rows)
            return;
        const uint32_t begin = next * RESIDENT_STAGE_GROUPS, left = groups - begin;
        rings.copy(&turns, from + begin,
                   left < RESIDENT_STAGE_GROUPS ? left : (uint32_t)RESIDENT_STAGE_GROUPS);
        next += step;
    }
    /* Calls work(first group in the ring, first group in the row, groups) for each stage of the warp's in a
     * row. All lanes. */
    template <typename Work> TOPK_MEMBER void take_row(uint32_t groups_of_row, const Work &work) {
        for (uint32_t begin = first * RESIDENT_STAGE_GROUPS; begin < groups_of_row;
             begin += step * RESIDENT_STAGE_GROUPS) {
            const uint32_t count = groups_of_row - begin;
            work(rings.take(&turns), begin,
                 count < RESIDENT_STAGE_GROUPS ? count : (uint32_t)RESIDENT_STAGE_GROUPS);
            simt_warp_sync(SIMT_ALL_LANES);
            copy();
        }
    }
};

/* Makes the warp's ring, and begins to fill it. Neighbouring stages of a row go to different blocks. All
 * lanes. */
template <typename Element>
TOPK_DEVICE ring<Element> begin_ring(const struct row_args &a, const stage_rings &rings, uint32_t rank,
                                     uint32_t blocks) {
    ring<Element> r = {
        a,       rings, {0, 0}, simt_warp() * blocks + rank, simt_warps() * blocks, simt_blocks() / blocks, 0,
        nullptr, 0,     0};
    rings.make();
    r.enter(simt_block() / blocks);
    for (uint32_t i = 0; i < RESIDENT_STAGES; i++)
        r.copy();
    return r;
}

#endif
