/* SPDX-License-Identifier: Apache-2.0
 * A row in the registers of a warp: as codes, ITEMS for each lane.
 *
 * Lanes read groups of 16 bytes, or of as many as hold ITEMS elements. Groups begin at a multiple of their
 * size, so the first one may begin with elements to the left of the row: `left` of them, which take part in
 * indices and in nothing else. Index i of a row is position i - left. In the order of group, lane and item
 * indices ascend. What is not of the row has code 0: no count of codes at or above a greater code sees it. */
#ifndef TOPK_SRC_CUDA_RTOPK_HELD_CUH
#define TOPK_SRC_CUDA_RTOPK_HELD_CUH

#include "../block.cuh"
#include "../rows.cuh"
#include "kernels.h"

/* How the lanes share a row. */
template <typename Element, uint32_t ITEMS> struct held_shape {
    static const uint32_t PER = ITEMS * sizeof(Element) < 16 ? ITEMS : 16 / sizeof(Element);
    static const uint32_t GROUPS = ITEMS / PER;
    static const uint32_t BYTES = PER * sizeof(Element);
};

template <typename Element, uint32_t ITEMS> struct held_row {
    typedef held_shape<Element, ITEMS> shape;
    key_word_t<Element> codes[ITEMS];
    uint32_t left, end; /* indices of the row: left to end - 1 */

    /* Of the lane's item. */
    TOPK_MEMBER uint32_t index(uint32_t item) const {
        return (item / shape::PER * SIMT_WARP + simt_lane()) * shape::PER + item % shape::PER;
    }
    TOPK_MEMBER bool holds(uint32_t item) const {
        return index(item) >= left && index(item) < end;
    }
};

/* One group: four words at most. */
struct held_group {
    uint32_t words[4];
};

template <uint32_t BYTES> TOPK_DEVICE held_group load_group(const void *from) {
    held_group group = {};
    if (BYTES == 16) {
        const simt_u32x4 loaded = simt_load16_read_only(from);
        group = held_group{{loaded.x, loaded.y, loaded.z, loaded.w}};
    } else if (BYTES == 8) {
        const uint64_t loaded = simt_load_read_only((const uint64_t *)from);
        group = held_group{{(uint32_t)loaded, (uint32_t)(loaded >> 32), 0, 0}};
    } else if (BYTES == 4) {
        group.words[0] = simt_load_read_only((const uint32_t *)from);
    } else {
        group.words[0] = simt_load_read_only((const uint16_t *)from);
    }
    return group;
}

template <typename Element>
TOPK_DEVICE key_word_t<Element> bits_of_group(const held_group &group, uint32_t item) {
    const uint32_t byte = item * (uint32_t)sizeof(Element);
    if (sizeof(Element) == 8)
        return (key_word_t<Element>)(group.words[byte / 4] | (uint64_t)group.words[byte / 4 + 1] << 32);
    return (Element)(group.words[byte / 4] >> byte % 4 * 8);
}

/* Loads whole groups that end within the row; the code of all other items is 0. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void load_groups(const Element *first, const struct code_map &map,
                             held_row<Element, ITEMS> *held) {
    typedef held_shape<Element, ITEMS> shape;
    held_group groups[shape::GROUPS];
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++) {
        const uint32_t index = held->index(g * shape::PER);
        groups[g] = held_group{};
        if (index + shape::PER <= held->end)
            groups[g] = load_group<shape::BYTES>(first + index);
    }
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const bool is_loaded = held->index(i - i % shape::PER) + shape::PER <= held->end;
        const key_word_t<Element> code =
            code_of<Element>(bits_of_group<Element>(groups[i / shape::PER], i % shape::PER), map);
        held->codes[i] = is_loaded ? code : 0;
    }
    if (held->left != 0) {
#pragma unroll
        for (uint32_t i = 0; i < shape::PER; i++)
            held->codes[i] = held->index(i) < held->left ? 0 : held->codes[i];
    }
}

/* Loads one by one what load_groups() has left out, or all elements. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void load_items(const Element *first, const struct code_map &map, bool all,
                            held_row<Element, ITEMS> *held) {
    typedef held_shape<Element, ITEMS> shape;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const bool is_loaded = !all && held->index(i - i % shape::PER) + shape::PER <= held->end;
        if (!is_loaded && held->holds(i))
            held->codes[i] = code_of<Element>(simt_load_read_only(first + held->index(i)), map);
    }
}

/* Brings a row of at most 32 * ITEMS elements into registers. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE held_row<Element, ITEMS> hold_row(const struct row_args &a, const struct row &r) {
    typedef held_shape<Element, ITEMS> shape;
    const Element *values = row_values<Element>(a, r);
    const uint32_t length = (uint32_t)r.length;
    held_row<Element, ITEMS> held;
    held.left = (uint32_t)((uintptr_t)values % shape::BYTES / sizeof(Element));
    held.end = held.left + length;
    if (held.end <= SIMT_WARP * ITEMS) {
        load_groups(values - held.left, a.map, &held);
        if (held.end % shape::PER != 0)
            load_items(values - held.left, a.map, false, &held);
        return held;
    }
    TOPK_REACHED(REACHED_RTOPK_SINGLE_LOADS);
    held.left = 0;
    held.end = length;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        held.codes[i] = 0;
    load_items(values, a.map, true, &held);
    return held;
}

/* ---- Hits of a lane: a bit for each item ---- */

template <typename Element, uint32_t ITEMS>
TOPK_DEVICE uint32_t hits_from(const held_row<Element, ITEMS> &held, key_word_t<Element> low) {
    uint32_t hits = 0;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        hits |= held.codes[i] >= low ? 1u << i : 0;
    if (low == 0) { /* also the code of what is not of the row */
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            hits &= held.holds(i) ? ~0u : ~(1u << i);
    }
    return hits;
}

/* How many codes of the row are at or above `low`. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE uint32_t count_from(const held_row<Element, ITEMS> &held, key_word_t<Element> low) {
    uint32_t count = 0;
    if (low == 0)
        return held.end - held.left;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        count += held.codes[i] >= low ? 1 : 0;
    return simt_reduce_add(SIMT_ALL_LANES, count);
}

#endif
