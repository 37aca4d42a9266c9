/* SPDX-License-Identifier: Apache-2.0
 * Delegates: the best elements of each subrange. Their keys go out, so that the first top-k selects among
 * unsigned integers. */
#ifndef TOPK_SRC_CUDA_DRTOPK_DELEGATES_CUH
#define TOPK_SRC_CUDA_DRTOPK_DELEGATES_CUH

#include "best.cuh"

/* Where the delegates of a row go. */
template <typename Element> struct delegate_slots {
    Element *keys;
    uint16_t *offsets;
    uint32_t beta;

    TOPK_MEMBER void put(int64_t subrange, uint32_t rank, key_word_t<Element> key, uint32_t offset) const {
        keys[subrange * beta + rank] = (Element)key;
        offsets[subrange * beta + rank] = (uint16_t)offset;
    }
};

template <typename Element>
TOPK_DEVICE delegate_slots<Element> slots_of(const struct drtopk_args &a, int64_t row) {
    const int64_t first = row * a.delegates.pitch;
    return {(Element *)a.delegates.keys + first, a.delegates.offsets + first, a.beta};
}

/* ---- A warp for each subrange ---- */

/* The lane's share, one element after the other. */
template <typename Element, uint32_t BETA>
TOPK_DEVICE best_seen<Element, BETA> see_elements(const struct code_map &map, const subranges<Element> &of,
                                                  int64_t subrange) {
    best_seen<Element, BETA> best = best_seen<Element, BETA>::none();
    const int64_t end = of.end(subrange);
    for (int64_t at = of.begin(subrange) + simt_lane(); at < end; at += SIMT_WARP)
        best.see(key_of<Element>(simt_load_read_only(of.values + at), map),
                 (uint32_t)(at - of.origin(subrange)));
    return best;
}

/* The same of a whole subrange, group by group. */
template <typename Element, uint32_t BETA>
TOPK_DEVICE best_seen<Element, BETA> see_groups(const struct code_map &map, const subranges<Element> &of,
                                                int64_t subrange) {
    const uint32_t PER = tile_shape<Element>::PER, groups = (1u << of.exponent) / PER;
    const Element *values = of.values + of.origin(subrange);
    best_seen<Element, BETA> best = best_seen<Element, BETA>::none();
    for (uint32_t first = simt_lane(); first < groups; first += DRTOPK_GROUPS * SIMT_WARP) {
        simt_u32x4 raw[DRTOPK_GROUPS];
#pragma unroll
        for (uint32_t i = 0; i < DRTOPK_GROUPS; i++)
            if (first + i * SIMT_WARP < groups)
                raw[i] = simt_load16_read_only(values + (first + i * SIMT_WARP) * PER);
#pragma unroll
        for (uint32_t i = 0; i < DRTOPK_GROUPS; i++) {
            const uint32_t group = first + i * SIMT_WARP;
            if (group >= groups)
                continue;
#pragma unroll
            for (uint32_t e = 0; e < PER; e++)
                best.see_above_least(key_of<Element>(bits_in<Element>(raw[i], e), map), group * PER + e);
        }
    }
    const uint32_t seen =
        simt_lane() < groups ? ((groups - simt_lane() + SIMT_WARP - 1) / SIMT_WARP) * PER : 0;
    best.count = seen < BETA ? seen : BETA;
    return best;
}

/* Takes the best of all lanes, one after the other. All lanes. */
template <typename Element, uint32_t BETA>
TOPK_DEVICE void put_best(best_seen<Element, BETA> best, int64_t subrange, uint32_t count,
                          const delegate_slots<Element> &slots) {
    for (uint32_t rank = 0; rank < count; rank++) {
        const bool has = best.count > 0;
        const key_word_t<Element> greatest = simt_reduce_max(SIMT_ALL_LANES, has ? best.keys[0] : 0);
        const bool ties = has && best.keys[0] == greatest;
        const uint32_t offset = simt_reduce_min(SIMT_ALL_LANES, ties ? best.offsets[0] : UINT32_MAX);
        if (ties && best.offsets[0] == offset) {
            slots.put(subrange, rank, greatest, offset);
            best.drop_first();
        }
    }
}

template <typename Element, uint32_t BETA>
TOPK_DEVICE void delegates_by_warp(const struct drtopk_args &a, const subranges<Element> &of,
                                   const delegate_slots<Element> &slots) {
    const int64_t count = of.count(), step = (int64_t)simt_blocks() * simt_warps();
    for (int64_t subrange = (int64_t)simt_block() * simt_warps() + simt_warp(); subrange < count;
         subrange += step) {
        best_seen<Element, BETA> best;
        bool exact = !of.is_whole(subrange);
        if (!exact) {
            best = see_groups<Element, BETA>(a.rows.map, of, subrange);
            exact = best.count > 0 && best.keys[best.count - 1] == 0;
        }
        if (simt_any(SIMT_ALL_LANES, exact)) {
            if (of.is_whole(subrange))
                TOPK_REACHED(REACHED_DRTOPK_LEAST_KEYS);
            best = see_elements<Element, BETA>(a.rows.map, of, subrange);
        }
        const uint32_t size = of.size(subrange);
        put_best(best, subrange, size < a.beta ? size : a.beta, slots);
    }
}

/* ---- A thread for each subrange ---- */

/* A warp loads the keys of 32 subranges side by side into shared memory, where neighbouring subranges begin
 * in different banks, and each lane goes through its own. */
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

/* ---- Rows ---- */

template <typename Element, uint32_t BETA, bool COALESCED>
TOPK_DEVICE void delegates_of_row(const struct drtopk_args &a, int64_t row,
                                  simt_shared<key_word_t<Element>> keys) {
    const struct row r = row_at(a.rows, row);
    const subranges<Element> of = subranges_of<Element>(a, r);
    if (simt_block() == 0 && simt_thread() == 0) {
        a.delegates.lengths[row] = delegates_of(of, a.beta);
        a.delegates.needed[row] = r.k;
        a.delegates.asked[row] = r.wanted;
    }
    const delegate_slots<Element> slots = slots_of<Element>(a, row);
    if (COALESCED)
        delegates_by_thread<Element, BETA>(a, of, slots, keys);
    else
        delegates_by_warp<Element, BETA>(a, of, slots);
}

/* BETA: at least as many as are wanted. */
template <typename Element, uint32_t BETA, bool COALESCED>
TOPK_KERNEL TOPK_BOUNDS(COALESCED ? DRTOPK_COALESCED_THREADS : DRTOPK_THREADS,
                        1) void drtopk_delegates(struct drtopk_args a) {
    simt_arena arena = simt_shared_arena();
    simt_shared<key_word_t<Element>> keys = {};
    if (COALESCED)
        keys = carve_coalesced<Element>(arena, a.exponent);
    if (is_called_off(a.rows))
        return;
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y())
        delegates_of_row<Element, BETA, COALESCED>(a, row, keys);
}

#endif
