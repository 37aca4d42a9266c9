/* SPDX-License-Identifier: Apache-2.0
 * Leads: what kernels for rows of one length keep of elements.
 *
 * The lead of an element is the upper 32 bits of its code, before the code is cut: of elements with 32 bits
 * all of it, and a narrower code lies in the upper bits. A lead takes half the instructions of a code. The
 * price: NaN have many leads. They lie at or above map.highest, or at or below map.lowest. Elements of 64
 * bits may share a lead. What is not of the row has lead 0.
 *
 * Narrow elements have many ties. In a row's leads a number that descends with positions lies below their
 * codes, so that all leads differ, and of equal elements the first has the greatest one. */
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

/* What a lead has below the code of an element: nothing, or a number that descends with positions. These
 * numbers are spread over all bits below, so that pivots between them can be guessed. */
template <typename Element>
TOPK_DEVICE uint32_t number_of_position(uint32_t position, const struct lead_map &map) {
    return sizeof(Element) < 4 ? map.unit - map.step - map.step * position : 0;
}

template <typename Element> TOPK_DEVICE uint32_t bits_below(const struct lead_map &map) {
    return sizeof(Element) < 4 ? map.unit - 1 : 0;
}

/* The numbered lead of a narrow element: of the one that begins at `byte` of a word. */
template <typename Element>
TOPK_DEVICE uint32_t lead_in_word(uint32_t word, uint32_t byte, const struct lead_map &map, uint32_t number) {
    const uint32_t bits = 8 * (uint32_t)sizeof(Element), mask = (1u << bits % 32) - 1;
    const uint32_t flips = ((uint32_t)map.flip >> (32 - bits) % 32) * (~0u / mask);
    const uint32_t oriented = word ^ (simt_signs<sizeof(Element)>(word) & flips);
    const uint32_t own = byte == 0 ? oriented : oriented & mask << 8 * byte; /* the factor drops upper ones */
    return own * (map.sign << (32 - bits - 8 * byte) % 32) + ((uint32_t)map.turn + number);
}

/* Whether a lead tells all of an element: of up to 32 bits, unless the order leaves its sign out. */
template <typename Element> TOPK_DEVICE bool tells_elements(const struct lead_map &map) {
    return sizeof(Element) < 8 && (uint32_t)map.flip >> 31 == 0;
}

/* The element of such a lead. */
template <typename Element> TOPK_DEVICE Element element_of_lead(uint32_t lead, const struct lead_map &map) {
    const uint32_t top = ((lead & ~bits_below<Element>(map)) - (uint32_t)map.turn) * map.sign;
    const uint32_t negative = (uint32_t)((int32_t)top >> 31);
    return (Element)((top ^ (negative & (uint32_t)map.flip)) >> (32 - 8 * sizeof(Element)) % 32);
}

/* The last lead of a number's class, or of all NaN where these are best. */
TOPK_DEVICE uint32_t word_of_lead(uint32_t lead, const struct lead_map &map) {
    lead = lead == map.zeros ? map.zeros | map.unit : lead;
    return lead < map.highest ? lead : map.highest;
}

/* A word for each class of elements that ascends with their keys: with 64 bits the key, else the last lead of
 * a number's class. NaN that are worst keep their leads. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> word_of(Element bits, const struct code_map &codes,
                                        const struct lead_map &map) {
    if constexpr (sizeof(Element) == 8) {
        return key_of<Element>(bits, codes);
    } else {
        return word_of_lead(lead_of<Element>(bits, map), map);
    }
}

/* The same where NaN that are worst share a word, too. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> class_word_of(Element bits, const struct code_map &codes,
                                              const struct lead_map &map) {
    const key_word_t<Element> word = word_of<Element>(bits, codes, map);
    return sizeof(Element) < 8 && word < map.lowest ? (key_word_t<Element>)map.lowest : word;
}

template <typename Element>
TOPK_DEVICE uint32_t class_word_of_lead(uint32_t lead, const struct lead_map &map) {
    const uint32_t word = word_of_lead(lead & ~bits_below<Element>(map), map);
    return word < map.lowest ? map.lowest : word;
}

/* Classes of leads that no pivot may divide: the two zeros, and all NaN. Any other lead is a class of its
 * own. */

/* The last lead of a lead's class. */
template <typename Element> TOPK_DEVICE uint32_t class_end(uint32_t lead, const struct lead_map &map) {
    const uint32_t below = bits_below<Element>(map), code = lead & ~below;
    if (code >= map.highest)
        return ~0u;
    if (code <= map.lowest)
        return map.lowest | below;
    return (code & ~map.unit) == map.zeros ? map.zeros + map.unit + below : lead;
}

/* The first lead of a lead's class; 0 if this is the class of the worst NaN. */
template <typename Element> TOPK_DEVICE uint32_t class_begin(uint32_t lead, const struct lead_map &map) {
    const uint32_t code = lead & ~bits_below<Element>(map);
    if (code <= map.lowest)
        return 0;
    lead = (code & ~map.unit) == map.zeros ? map.zeros : lead;
    return lead < map.highest ? lead : map.highest;
}

#endif
