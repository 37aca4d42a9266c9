/* SPDX-License-Identifier: Apache-2.0
 * A thread makes the delegates of a subrange. A warp loads the keys of 32 subranges side by side into shared
 * memory, where neighbouring subranges begin in different banks, and each lane goes through its own. */
#ifndef TOPK_SRC_CUDA_DRTOPK_BY_THREAD_CUH
#define TOPK_SRC_CUDA_DRTOPK_BY_THREAD_CUH

#include "delegates.cuh"

template <typename Element>
TOPK_HOST_DEVICE simt_shared<key_word_t<Element>> carve_coalesced(simt_arena &arena, uint32_t exponent) {
    const uint32_t pitch = (1u << exponent) + 1;
    return simt_carve<key_word_t<Element>>(arena, DRTOPK_COALESCED_THREADS * pitch);
}

template <typename Element>
TOPK_DEVICE void load_coalesced(const struct code_map &map, const subranges<Element> &of, int64_t first,
                                simt_shared<key_word_t<Element>> keys) {
    const uint32_t PER = tile_shape<Element>::PER, size = 1u << of.exponent, groups = SIMT_WARP * size / PER;
    const int64_t origin = of.origin(first);
    for (uint32_t group = simt_lane(); group < groups; group += SIMT_WARP) {
        const int64_t at = origin + group * PER;
        const bool whole = at >= 0 && at + PER <= of.length;
        simt_u32x4 raw = {0, 0, 0, 0};
        if (whole)
            raw = simt_load16_read_only(of.values + at);
#pragma unroll
        for (uint32_t e = 0; e < PER; e++) {
            const uint32_t offset = group * PER + e;
            key_word_t<Element> bits = bits_in<Element>(raw, e);
            if (!whole)
                bits = at + e >= 0 && at + e < of.length ? simt_load_read_only(of.values + at + e) : 0;
            keys[offset + (offset >> of.exponent)] = key_of<Element>(bits, map);
        }
    }
}

template <typename Element, uint32_t BETA>
TOPK_DEVICE void delegates_by_thread(const struct drtopk_args &a, const subranges<Element> &of,
                                     const delegate_slots<Element> &slots,
                                     simt_shared<key_word_t<Element>> of_block) {
    const uint32_t pitch = (1u << of.exponent) + 1;
    const simt_shared<key_word_t<Element>> keys =
        simt_shared_part(of_block, simt_warp() * SIMT_WARP * pitch, SIMT_WARP * pitch);
    const int64_t count = of.count(), step = (int64_t)simt_blocks() * simt_threads();
    for (int64_t first = (int64_t)simt_block() * simt_threads() + simt_warp() * SIMT_WARP; first < count;
         first += step) {
        const int64_t subrange = first + simt_lane();
        best_seen<Element, BETA> best = best_seen<Element, BETA>::none();
        load_coalesced(a.rows.map, of, first, keys);
        simt_warp_sync(SIMT_ALL_LANES);
        if (subrange < count) {
            const uint32_t end = (uint32_t)(of.end(subrange) - of.origin(subrange));
            for (uint32_t offset = (uint32_t)(of.begin(subrange) - of.origin(subrange)); offset < end;
                 offset++)
                best.see(keys[simt_lane() * pitch + offset], offset);
#pragma unroll
            for (uint32_t b = 0; b < BETA; b++)
                if (b < best.count && b < a.beta)
                    slots.put(subrange, b, best.keys[b], best.offsets[b]);
        }
        simt_warp_sync(SIMT_ALL_LANES);
    }
}

/* BETA: at least as many as are wanted. */
template <typename Element, uint32_t BETA>
TOPK_KERNEL TOPK_BOUNDS(DRTOPK_COALESCED_THREADS, 1) void drtopk_by_thread(struct drtopk_args a) {
    simt_arena arena = simt_shared_arena();
    const simt_shared<key_word_t<Element>> keys = carve_coalesced<Element>(arena, a.exponent);
    for_delegates<Element, TOPK_PATH(REACHED_DRTOPK_THREADS_NEXT_ROW)>(
        a, [&](const subranges<Element> &of, const delegate_slots<Element> &slots)
               TOPK_LAMBDA { delegates_by_thread<Element, BETA>(a, of, slots, keys); });
}

#endif
