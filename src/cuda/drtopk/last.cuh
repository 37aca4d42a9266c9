/* SPDX-License-Identifier: Apache-2.0
 * Where the first top-k selects: the last of the delegates that it has selected, by key and slot. Then every
 * delegate up to it is taken. */
#ifndef TOPK_SRC_CUDA_DRTOPK_LAST_CUH
#define TOPK_SRC_CUDA_DRTOPK_LAST_CUH

#include "subranges.cuh"

/* A key and a slot for each warp. */
struct last_memory {
    simt_shared<uint64_t> keys, slots;
};

TOPK_HOST_DEVICE struct last_memory carve_last(simt_arena &arena) {
    struct last_memory s;
    s.keys = simt_carve<uint64_t>(arena, SIMT_WARP);
    s.slots = simt_carve<uint64_t>(arena, SIMT_WARP);
    return s;
}

struct ranked_delegate {
    uint64_t key, slot;

    /* The later of this and others of the warp: the lesser key, and of equal keys the greater slot. All
     * lanes. */
    TOPK_MEMBER ranked_delegate last_of_warp(void) const {
        const uint64_t least = simt_reduce_min(SIMT_ALL_LANES, key);
        return {least, simt_reduce_max(SIMT_ALL_LANES, key == least ? slot : 0)};
    }
};

template <typename Element>
TOPK_DEVICE void find_last(const struct drtopk_args &a, int64_t row, const struct last_memory &s) {
    const int64_t first = row * a.first.k_max, k = a.delegates.needed[row];
    if (k == 0 || k >= a.delegates.lengths[row])
        return;
    struct ranked_delegate last = {~(uint64_t)0, 0};
    for (int64_t i = simt_thread(); i < k; i += simt_threads()) {
        const uint64_t key = ((const Element *)a.first.selected)[first + i],
                       slot = (uint64_t)a.first.selected_slots[first + i];
        if (key < last.key || (key == last.key && slot > last.slot))
            last = {key, slot};
    }
    last = last.last_of_warp();
    simt_block_sync(); /* the words of the row before are read */
    if (simt_lane() == 0) {
        s.keys[simt_warp()] = last.key;
        s.slots[simt_warp()] = last.slot;
    }
    simt_block_sync();
    if (simt_warp() > 0)
        return;
    const bool exists = simt_lane() < simt_warps();
    last = {exists ? (uint64_t)s.keys[simt_lane()] : ~(uint64_t)0,
            exists ? (uint64_t)s.slots[simt_lane()] : 0};
    last = last.last_of_warp();
    if (simt_lane() == 0) {
        ((Element *)a.first.keys)[row] = (Element)last.key;
        a.first.last[row] = (int64_t)last.slot;
    }
}

template <typename Element> TOPK_KERNEL TOPK_BOUNDS(DRTOPK_TILE, 1) void drtopk_last(struct drtopk_args a) {
    simt_arena arena = simt_shared_arena();
    const struct last_memory s = carve_last(arena);
    if (is_called_off(a.rows))
        return;
    for (int64_t row = simt_block(); row < a.rows.rows; row += simt_blocks()) {
        if (row != simt_block())
            TOPK_REACHED(REACHED_DRTOPK_LAST_NEXT_ROW);
        find_last<Element>(a, row, s);
    }
}

#endif
