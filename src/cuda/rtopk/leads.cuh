/* SPDX-License-Identifier: Apache-2.0
 * Rows of one length in the registers of a warp, as leads.
 *
 * The lead of an element is the upper 32 bits of its code, before the code is cut: of elements with 32 bits
 * all of it, and a narrower code lies in the upper bits. A lead takes half the instructions of a code. The
 * price: NaN have many leads. They lie at or above map.highest, or at or below map.lowest. Elements of 64
 * bits may share a lead. What is not of the row has lead 0. */
#ifndef TOPK_SRC_CUDA_RTOPK_LEADS_CUH
#define TOPK_SRC_CUDA_RTOPK_LEADS_CUH

#include "../select/held.cuh"
#include "kernels.h"

template <typename Element>
TOPK_DEVICE uint32_t lead_of(key_word_t<Element> bits, const struct lead_map &map) {
    if constexpr (sizeof(Element) == 8) {
        const uint64_t negative = (uint64_t)0 - (bits >> 63);
        return (uint32_t)(((bits ^ ((negative & map.flip) ^ map.always)) + map.turn) >> 32);
    } else {
        const uint32_t top = bits << (32 - 8 * sizeof(Element));
        const uint32_t negative = (uint32_t)((int32_t)top >> 31);
        return (top ^ (negative & (uint32_t)map.flip)) * map.sign + (uint32_t)map.turn;
    }
}

/* A word for each class of elements that ascends with their keys: with 64 bits the key, else the last lead of
 * a number's class. NaN that are worst keep their leads. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> word_of(Element bits, const struct code_map &codes,
                                        const struct lead_map &map) {
    if constexpr (sizeof(Element) == 8) {
        return key_of<Element>(bits, codes);
    } else {
        uint32_t lead = lead_of<Element>(bits, map);
        lead = lead == map.zeros ? map.zeros | map.unit : lead;
        return lead < map.highest ? lead : map.highest;
    }
}

/* The same where NaN that are worst share a word, too. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> class_word_of(Element bits, const struct code_map &codes,
                                              const struct lead_map &map) {
    const key_word_t<Element> word = word_of<Element>(bits, codes, map);
    return sizeof(Element) < 8 && word < map.lowest ? (key_word_t<Element>)map.lowest : word;
}

/* The last lead of a lead's class. */
TOPK_DEVICE uint32_t class_end(uint32_t lead, const struct lead_map &map) {
    if (lead >= map.highest)
        return ~0u;
    if (lead <= map.lowest)
        return map.lowest;
    return (lead & ~map.unit) == map.zeros ? map.zeros + map.unit : lead;
}

/* The first lead of a lead's class; 0 if this is the class of the worst NaN. */
TOPK_DEVICE uint32_t class_begin(uint32_t lead, const struct lead_map &map) {
    const uint32_t even = lead & ~map.unit;
    lead = even == map.zeros ? even : lead;
    lead = lead < map.highest ? lead : map.highest;
    return lead > map.lowest ? lead : 0;
}

/* ---- Rows ---- */

template <typename Element, uint32_t ITEMS> struct lead_row {
    typedef held_shape<Element, ITEMS> shape;
    static const uint32_t OF_WARP =
        SIMT_WARP * shape::PER; /* elements that the lanes hold in one group each */
    const Element *values;
    uint32_t left, end;               /* indices of the row: left to end - 1, as in held.cuh */
    held_group groups[shape::GROUPS]; /* as loaded */
    uint32_t leads[ITEMS];

    /* Of the lane's item. */
    static TOPK_MEMBER uint32_t index(uint32_t item) {
        return (item / shape::PER * SIMT_WARP + simt_lane()) * shape::PER + item % shape::PER;
    }
    /* Whether lanes hold elements of some row in this group. */
    static TOPK_MEMBER bool is_used(const struct uniform_rows &u, uint32_t group) {
        return shape::GROUPS <= 2 || group < u.groups;
    }
};

/* Reads a row, which the registers hold wherever it begins. Lanes that lie behind it read its last group. All
 * lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void load_row(const Element *values, const struct uniform_rows &u,
                          lead_row<Element, ITEMS> *row) {
    typedef held_shape<Element, ITEMS> shape;
    row->values = values;
    if (u.is_whole) {
        row->left = 0;
        row->end = u.length;
#pragma unroll
        for (uint32_t g = 0; g < shape::GROUPS; g++)
            if (row->is_used(u, g))
                row->groups[g] = load_held_group<shape::BYTES>(values + row->index(g * shape::PER));
        return;
    }
    row->left = (uint32_t)((uintptr_t)values % shape::BYTES / sizeof(Element));
    row->end = row->left + u.length;
    const Element *first = values - row->left;
    const uint32_t last = (row->end - 1) / shape::PER * shape::PER;
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++) {
        const uint32_t index = row->index(g * shape::PER);
        if (row->is_used(u, g))
            row->groups[g] = load_held_group<shape::BYTES>(first + (index < last ? index : last));
    }
}

/* Turns what was read into leads. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void make_leads(const struct uniform_rows &u, lead_row<Element, ITEMS> *row) {
    typedef held_shape<Element, ITEMS> shape;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint32_t g = i / shape::PER;
        row->leads[i] = 0;
        if (row->is_used(u, g))
            row->leads[i] = lead_of<Element>(bits_of_group<Element>(row->groups[g], i % shape::PER), u.map);
    }
    if (u.is_whole)
        return;
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++) {
        if (g == 0 || (g + 1) * row->OF_WARP > row->end) {
#pragma unroll
            for (uint32_t i = g * shape::PER; i < (g + 1) * shape::PER; i++)
                row->leads[i] = row->index(i) - row->left < u.length ? row->leads[i] : 0;
        }
    }
}

#endif
