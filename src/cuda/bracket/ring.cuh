/* SPDX-License-Identifier: Apache-2.0
 * How a block reads a row: each warp copies chunks of the row's body into its ring, one after another. */
#ifndef TOPK_SRC_CUDA_BRACKET_RING_CUH
#define TOPK_SRC_CUDA_BRACKET_RING_CUH

#include "memory.cuh"

/* The chunks of a row that are a warp's: every `step`-th from `next` on. */
template <typename Element, typename Shape> struct chunk_reader {
    warp_rings<Shape::CHUNK, Shape::SLOTS> rings;
    const Element *body;
    int64_t groups; /* of the body */
    uint32_t next, now, step, chunks;

    static TOPK_MEMBER chunk_reader of(const bracket_task<Element, Shape> &t) {
        const Element *values = t.values();
        const struct row_parts parts = parts_of(values, t.r.length);
        chunk_reader c = {t.m.rings, values + parts.head, parts.groups, 0, 0, 0, 0};
        c.now = c.next = simt_warp() * t.share.blocks + t.share.block;
        c.step = simt_warps() * t.share.blocks;
        c.chunks = (uint32_t)((parts.groups + Shape::CHUNK - 1) / Shape::CHUNK);
        return c;
    }

    /* Reads these chunks instead, each by this warp. All lanes. */
    TOPK_MEMBER void read_only(uint32_t first, uint32_t end, struct ring_turns *turns) {
        now = next = first;
        step = 1;
        chunks = end;
        for (uint32_t i = 0; i < Shape::SLOTS; i++)
            issue(turns);
    }
    /* Groups of a chunk. */
    TOPK_MEMBER uint32_t groups_of(uint32_t chunk) const {
        const int64_t remaining = groups - (int64_t)chunk * Shape::CHUNK;
        return remaining < Shape::CHUNK ? (uint32_t)remaining : (uint32_t)Shape::CHUNK;
    }
    /* Begins to copy the next chunk, if there is one. All lanes. */
    TOPK_MEMBER void issue(struct ring_turns *turns) {
        if (next >= chunks)
            return;
        rings.copy(turns, (const simt_u32x4 *)body + (int64_t)next * Shape::CHUNK, groups_of(next));
        next += step;
    }
    /* Calls work(chunk, first group in the ring, groups) with each chunk, until it returns false; copies that
     * are under way are waited for. All lanes; work() ends with the lanes together. */
    template <typename Work> TOPK_MEMBER void read(struct ring_turns *turns, const Work &work) {
        bool goes_on = true;
        for (; turns->taken != turns->copied; now += step) {
            const uint32_t first = rings.take(turns);
            if (goes_on)
                goes_on = work(now, first, groups_of(now));
            if (goes_on)
                issue(turns);
        }
    }
};

#endif
