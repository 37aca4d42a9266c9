/* SPDX-License-Identifier: Apache-2.0
 * A row in the registers of a block: each warp holds a part of it, as codes. In the order of warps, and in a
 * warp as held_row says, positions ascend. */
#ifndef TOPK_SRC_CUDA_RESIDENT_PART_CUH
#define TOPK_SRC_CUDA_RESIDENT_PART_CUH

#include "../select/held.cuh"
#include "bracket.cuh"
#include "memory.cuh"

/* A map of held_row: codes.h. With less than 64 bits, elements are extended by their sign and go through a
 * multiplication by 1 or -1, since multiplications have a pipe of their own, while all else shares one. */
template <typename Element> struct as_uncut_codes {
    typedef key_word_t<Element> word;
    static const bool FILTERS = false;
    const struct code_map &map;
    uint32_t flip, sign, turn, less; /* of elements with less than 64 bits; `less` is -add */

    static TOPK_MEMBER as_uncut_codes of_map(const struct code_map &map) {
        const uint32_t always = (uint32_t)0 - (uint32_t)(map.always & 1);
        return as_uncut_codes{map, (uint32_t)map.negative | ~(uint32_t)map.keep, always | 1,
                              (uint32_t)map.turn + always, (uint32_t)0 - (uint32_t)map.add};
    }
    TOPK_MEMBER word of(word bits) const {
        if constexpr (sizeof(Element) == 8) {
            return uncut_code_of<Element>(bits, map);
        } else {
            const uint32_t up = 32 - 8 * (uint32_t)sizeof(Element);
            const int32_t element = (int32_t)(bits << up) >> up, negative = element >> 31;
            const uint32_t flipped = (uint32_t)element ^ ((uint32_t)negative & flip);
            return (Element)(flipped * sign + ((uint32_t)negative * less + turn));
        }
    }
    static TOPK_MEMBER word nothing(void) {
        return 0;
    }
};

template <typename Element, uint32_t ITEMS> struct row_part {
    typedef key_word_t<Element> word;
    held_row<Element, ITEMS> held;
    uint32_t origin;       /* position of index 0; wraps */
    uint32_t count;        /* elements of the row that take part */
    const Element *values; /* of the row */
    struct code_map map;

    TOPK_MEMBER word code(uint32_t item) const {
        return held.items[item];
    }
    TOPK_MEMBER uint32_t position(uint32_t item) const {
        return origin + held.index(item);
    }
    /* Of any element of the row: which of its items a thread needs is not known before, and registers have no
     * index. */
    TOPK_MEMBER word key_at(uint32_t position) const {
        return key_of<Element>(simt_load_read_only(values + position), map);
    }
    TOPK_MEMBER bool is_empty(void) const {
        return held.left == held.end;
    }
};

/* Which elements take part: all; or with a predicate (where.cuh). */
struct all_elements {
    template <typename Map> TOPK_MEMBER const Map &of(const Map &map, const struct row &) const {
        return map;
    }
};

/* Brings the warp's part of a row into registers, and calls meanwhile() once the loads are on their way. All
 * lanes. Parts begin where groups do, unless the row would then be too long for the block. */
template <typename Element, uint32_t ITEMS, typename Who, typename Meanwhile>
TOPK_DEVICE row_part<Element, ITEMS> hold_part(const struct row_args &a, const struct row &r, const Who &who,
                                               const Meanwhile &meanwhile) {
    const uint32_t of_warp = SIMT_WARP * ITEMS, length = (uint32_t)r.length;
    uint32_t left = (uint32_t)((uintptr_t)row_values<Element>(a, r) % held_shape<Element, ITEMS>::BYTES /
                               sizeof(Element));
    left = left + length <= simt_warps() * of_warp ? left : 0;
    const uint32_t begin = simt_warp() == 0 ? 0 : simt_warp() * of_warp - left;
    const uint32_t end = (simt_warp() + 1) * of_warp - left;
    struct row part = r;
    part.begin += begin < length ? begin : length;
    part.length = begin >= length ? 0 : (end < length ? end : length) - begin;
    row_part<Element, ITEMS> held = {{}, begin, length, row_values<Element>(a, r), a.map};
    held.held = hold_row_as<Element, ITEMS, 1>(a, part, who.of(as_uncut_codes<Element>::of_map(a.map), part),
                                               meanwhile);
    held.origin -= held.held.left;
    return held;
}

/* Warps that hold any of a row, perhaps one more. */
template <typename Element, uint32_t ITEMS> TOPK_DEVICE uint32_t warps_of_row(uint32_t length) {
    const uint32_t of_warp = SIMT_WARP * ITEMS;
    const uint32_t warps = (length + held_shape<Element, ITEMS>::PER - 1 + of_warp - 1) / of_warp;
    return warps < simt_warps() ? warps : simt_warps();
}

/* The greatest code of the thread's first `count` items: a power of two, or above ITEMS for all. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE key_word_t<Element> best_of_first(const row_part<Element, ITEMS> &part, uint32_t count) {
    typedef key_word_t<Element> word;
    word so_far = part.code(0), of_first = so_far;
#pragma unroll
    for (uint32_t i = 1; i < ITEMS; i++) {
        if ((i & (i - 1)) == 0)
            of_first = i == count ? so_far : of_first;
        so_far = part.code(i) > so_far ? part.code(i) : so_far;
    }
    return count >= ITEMS ? so_far : of_first;
}

/* Shares the greatest code of the warp's part: greatest_of_row() has it after a barrier. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void share_greatest(const row_part<Element, ITEMS> &part, const row_memory<Element> &m) {
    const key_word_t<Element> best = simt_reduce_max(SIMT_ALL_LANES, best_of_first(part, ITEMS));
    if (simt_lane() == 0)
        m.best[simt_warp()] = best;
}

/* The last code of the row's best class. All lanes. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> greatest_of_row(const row_memory<Element> &m, const struct code_map &map) {
    typedef key_word_t<Element> word;
    const word of_lane = simt_lane() < simt_warps() ? (word)m.best[simt_lane()] : (word)0;
    return uncut_class_last<Element>(simt_reduce_max(SIMT_ALL_LANES, of_lane), map);
}

/* The sum over the warps; *half changes. All threads; one barrier. */
template <typename Element>
TOPK_DEVICE uint32_t sum_of_warps(uint32_t of_warp, const row_memory<Element> &m, uint32_t *half) {
    const simt_shared<uint32_t> sums = simt_shared_part(m.counts, *half * SIMT_WARP, SIMT_WARP);
    if (simt_lane() == 0)
        sums[simt_warp()] = of_warp;
    simt_block_sync();
    *half ^= 1;
    return simt_reduce_add(SIMT_ALL_LANES, simt_lane() < simt_warps() ? (uint32_t)sums[simt_lane()] : 0);
}

/* The bracket of all codes that take part. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE code_bracket<Element> whole_bracket(const row_part<Element, ITEMS> &part) {
    return code_bracket<Element>{0, (Element) ~(Element)0, part.count, 0, part.held.holding(), 0};
}

/* Divides the bracket at both pivots. Each is the first code of a class, above the class of low and at most
 * high. One barrier; *half changes. All threads. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void divide(const row_part<Element, ITEMS> &part, const pivot_pair<Element> &p, uint32_t k,
                        const row_memory<Element> &m, uint32_t *half, code_bracket<Element> *b) {
    static_assert(RESIDENT_ROW_MAX < 1 << 16, "two counts fit a word");
    struct pivot_hits lower = {0, 0}, upper = {0, 0};
    uint32_t counts = 0;
    if (!part.is_empty()) {
        lower.hits = hits_of_pivot(part.held, p.lower);
        upper.hits = hits_of_pivot(part.held, p.upper);
        counts = simt_reduce_add(SIMT_ALL_LANES, simt_popc(lower.hits) + (simt_popc(upper.hits) << 16));
    }
    counts = sum_of_warps(counts, m, half);
    lower.count = counts & 0xffff;
    upper.count = counts >> 16;
    divide_at(p.upper, upper, k, b);
    if (upper.count < k)
        divide_at(p.lower, lower, k, b);
}

#endif
