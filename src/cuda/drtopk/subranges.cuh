/* SPDX-License-Identifier: Apache-2.0
 * How a row is cut into subranges. They begin and end on 16 bytes, so the first one and the last one may be
 * shorter than the others. A whole subrange has room for 16 bytes and all delegates: the first one has no
 * fewer delegates than others. */
#ifndef TOPK_SRC_CUDA_DRTOPK_SUBRANGES_CUH
#define TOPK_SRC_CUDA_DRTOPK_SUBRANGES_CUH

#include "../block.cuh"
#include "../rows.cuh"
#include "../tiles.cuh"
#include "kernels.h"

template <typename Element> struct subranges {
    const Element *values; /* of the row */
    int64_t length;
    uint32_t exponent;
    uint32_t shift; /* elements from the last 16 bytes' begin to the row's */

    TOPK_MEMBER int64_t count(void) const {
        return length == 0 ? 0 : (length + shift + ((int64_t)1 << exponent) - 1) >> exponent;
    }
    /* The position of offset 0 of a subrange; it may be negative for the first one. */
    TOPK_MEMBER int64_t origin(int64_t subrange) const {
        return (subrange << exponent) - shift;
    }
    TOPK_MEMBER int64_t begin(int64_t subrange) const {
        const int64_t at = origin(subrange);
        return at < 0 ? 0 : at;
    }
    TOPK_MEMBER int64_t end(int64_t subrange) const {
        const int64_t at = origin(subrange + 1);
        return at < length ? at : length;
    }
    TOPK_MEMBER uint32_t size(int64_t subrange) const {
        return (uint32_t)(end(subrange) - begin(subrange));
    }
};

template <typename Element>
TOPK_DEVICE subranges<Element> subranges_of(const struct drtopk_args &a, const struct row &r) {
    const Element *values = row_values<Element>(a.rows, r);
    return {values, r.length, a.exponent, (uint32_t)((uintptr_t)values % 16 / sizeof(Element))};
}

/* Only the last subrange may have fewer elements than that. */
template <typename Element>
TOPK_DEVICE uint32_t delegates_in(const subranges<Element> &of, int64_t subrange, uint32_t beta) {
    const uint32_t size = of.size(subrange);
    return size < beta ? size : beta;
}

/* Of the whole row. */
template <typename Element> TOPK_DEVICE int64_t delegates_of(const subranges<Element> &of, uint32_t beta) {
    const int64_t last = of.count() - 1;
    return last < 0 ? 0 : last * beta + delegates_in(of, last, beta);
}

/* An element of 16 bytes. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> bits_in(const simt_u32x4 &group, uint32_t element) {
    const body_tile<Element> tile = {{group}, 1, 0};
    return tile.bits(0, element);
}

/* A part of a subrange: the positions from `begin` to end - 1. It is read from `origin` on, which lies on 16
 * bytes and may be negative. */
struct part {
    int64_t origin, begin, end;
};

template <typename Element>
TOPK_DEVICE struct part whole_subrange(const subranges<Element> &of, int64_t subrange) {
    return {of.origin(subrange), of.begin(subrange), of.end(subrange)};
}

/* Elements of a part, in which subranges are scanned again. */
TOPK_HOST_DEVICE uint32_t parts_log2(uint32_t exponent) {
    return exponent > DRTOPK_PART_EXPONENT ? exponent - DRTOPK_PART_EXPONENT : 0;
}

template <typename Element>
TOPK_DEVICE struct part part_of_subrange(const subranges<Element> &of, int64_t subrange, uint32_t number) {
    struct part part = whole_subrange(of, subrange);
    const int64_t size = (int64_t)1 << (of.exponent - parts_log2(of.exponent));
    part.origin += number * size;
    part.begin = part.begin > part.origin ? part.begin : part.origin;
    part.end = part.end < part.origin + size ? part.end : part.origin + size;
    return part;
}

/* As bits_in(), for an element whose number is not a constant. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> any_bits_in(const simt_u32x4 &group, uint32_t element) {
    const uint32_t at = element * sizeof(Element), word = at / 4;
    const uint32_t low = word == 0 ? group.x : word == 1 ? group.y : word == 2 ? group.z : group.w;
    if (sizeof(Element) == 8)
        return (key_word_t<Element>)((uint64_t)(word == 0 ? group.y : group.w) << 32 | low);
    return (key_word_t<Element>)(Element)(low >> at % 4 * 8);
}

/* 16 bytes that lie only partly in the part, element by element. */
template <typename Element>
TOPK_DEVICE simt_u32x4 load_edge(const subranges<Element> &of, int64_t at, const struct part &part) {
    uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
    for (uint32_t e = 0; e < 16 / sizeof(Element); e++) {
        const bool inside = at + e >= part.begin && at + e < part.end;
        const uint64_t bits = inside ? simt_load_read_only(of.values + at + e) : 0;
        const uint32_t byte = e * sizeof(Element);
        words[byte / 4] |= (uint32_t)(bits << byte % 4 * 8);
        if (sizeof(Element) == 8)
            words[byte / 4 + 1] = (uint32_t)(bits >> 32);
    }
    return {words[0], words[1], words[2], words[3]};
}

/* Goes through a part, 16 bytes for each of `lanes` lanes; this one is number `lane`. Calls
 * step(group of 16 bytes, position of the first element, bits of those that are inside). In the order of
 * step, lane and element they are in the order of positions. The lanes call step() together. */
template <typename Element, typename Step>
TOPK_DEVICE void for_part(const subranges<Element> &of, const struct part &part, uint32_t lane,
                          uint32_t lanes, const Step &step) {
    const uint32_t PER = tile_shape<Element>::PER, ALL = (1u << PER) - 1;
    for (int64_t from = part.origin; from < part.end; from += DRTOPK_AHEAD * lanes * PER) {
        simt_u32x4 raw[DRTOPK_AHEAD];
#pragma unroll
        for (uint32_t i = 0; i < DRTOPK_AHEAD; i++) {
            const int64_t at = from + (i * lanes + lane) * PER;
            raw[i] = simt_u32x4{0, 0, 0, 0};
            if (at >= part.begin && at + PER <= part.end)
                raw[i] = simt_load16_read_only(of.values + at);
        }
#pragma unroll
        for (uint32_t i = 0; i < DRTOPK_AHEAD; i++) {
            const int64_t at = from + (i * lanes + lane) * PER, before = part.begin - at,
                          left = part.end - at;
            if (from + i * lanes * PER >= part.end)
                continue;
            uint32_t inside = ALL;
            if (before > 0 || left < PER) {
                inside = before <= 0 ? ALL : before < PER ? ALL << before : 0;
                inside &= left <= 0 ? 0 : left < PER ? (1u << left) - 1 : ALL;
                raw[i] = load_edge(of, at, part);
            }
            step(raw[i], at, inside);
        }
    }
}

#endif
