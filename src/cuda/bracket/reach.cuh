/* SPDX-License-Identifier: Apache-2.0
 * Which elements reach a threshold: all from some class on. */
#ifndef TOPK_SRC_CUDA_BRACKET_REACH_CUH
#define TOPK_SRC_CUDA_BRACKET_REACH_CUH

#include "../predicate/arcs.cuh"
#include "memory.cuh"

enum reach_test {
    REACH_BITS,   /* bits in an arc: all that reach the threshold have the same sign */
    REACH_POINTS, /* points in an arc (keys.h) */
    REACH_CODES   /* codes: signs do not count, or more is different than a turn */
};

template <typename Element> struct reach {
    typedef key_word_t<Element> word;
    const struct code_map &map;
    word low; /* the first uncut code of the class */
    enum reach_test kind;
    arc_test<Element, true> arc;

    static TOPK_MEMBER reach of(const struct code_map &map, word key) {
        reach r = {map, 0, REACH_CODES, {}};
        r.begin_at(key);
        return r;
    }
    TOPK_MEMBER void begin_at(word key) {
        const uint32_t top = 8 * sizeof(Element) - 1, SHIFT = arc_test<Element, true>::SHIFT;
        const word ones = (word)(Element) ~(Element)0, flip = (word)map.negative & ones;
        low = uncut_class_first<Element>(class_first<Element>(key, map), map);
        word begin = (map.always == 0 ? low - (word)map.turn : (word)map.turn) & ones;
        const word span = ones - low, end = (begin + span) & ones;
        kind = REACH_CODES;
        if ((word)map.add == 0 && ((word)map.keep & ones) == ones)
            kind = begin <= end && (begin >> top) == (end >> top) ? REACH_BITS : REACH_POINTS;
        if (kind == REACH_BITS && (begin >> top) != 0 && flip != 0)
            begin = end ^ flip; /* bits descend where points ascend */
        arc.flip = kind == REACH_BITS ? 0 : flip << SHIFT;
        arc.begin = begin << SHIFT;
        arc.span = span << SHIFT | (((word)1 << SHIFT) - 1);
    }

    /* Whether an element of a group of 16 bytes reaches the threshold. TEST: r.kind. */
    template <enum reach_test TEST> TOPK_MEMBER bool any(const simt_u32x4 &group) const {
        if (TEST == REACH_CODES)
            return hits(group) != 0;
        if (TEST == REACH_BITS && sizeof(Element) == 4) {
            const uint32_t less = (uint32_t)0 - (uint32_t)arc.begin;
            uint32_t nearest = group.x + less;
            nearest = simt_min_of_sum(group.y, less, nearest);
            nearest = simt_min_of_sum(group.z, less, nearest);
            nearest = simt_min_of_sum(group.w, less, nearest);
            return nearest <= (uint32_t)arc.span;
        }
        const simt_u32x4 groups[1] = {group};
        return arc.template matches<TEST == REACH_POINTS>(groups) != 0;
    }

    /* The elements of a group that reach the threshold, as bits. */
    TOPK_MEMBER uint32_t hits(const simt_u32x4 &group) const {
        const uint32_t PER = 16 / sizeof(Element);
        const body_tile<Element> tile = {{group}, 1, 0};
        uint32_t hits = 0;
#pragma unroll
        for (uint32_t e = 0; e < PER; e++)
            hits |= (uint32_t)(uncut_code_of<Element>(tile.bits(0, e), map) >= low) << e;
        return hits;
    }
};

/* The elements of one class. */
template <typename Element> struct tie_class {
    typedef key_word_t<Element> word;
    const struct code_map &map;
    word first, span; /* of its uncut codes */

    static TOPK_MEMBER tie_class of(const struct code_map &map, word key) {
        const word first = uncut_class_first<Element>(class_first<Element>(key, map), map);
        return tie_class{map, first, uncut_class_last<Element>(first, map) - first};
    }
    TOPK_MEMBER bool holds(word bits) const {
        return uncut_code_of<Element>(bits, map) - first <= span;
    }
    /* Those of a group, as bits. */
    TOPK_MEMBER uint32_t among(const simt_u32x4 &group) const {
        const uint32_t PER = 16 / sizeof(Element);
        const body_tile<Element> tile = {{group}, 1, 0};
        uint32_t ties = 0;
#pragma unroll
        for (uint32_t e = 0; e < PER; e++)
            ties |= (uint32_t)holds(tile.bits(0, e)) << e;
        return ties;
    }
};

#endif
