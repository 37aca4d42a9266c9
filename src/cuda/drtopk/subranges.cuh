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
    /* The position of offset 0 of a subrange; that of the first one may be negative. */
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

/* Goes through a subrange, whole or not, in steps of PER elements for each of `lanes` lanes, of which this
 * one is number `lane`: calls work(element of the step, bits, position, is_inside) for each, and then
 * end_step(). In the order of step, lane and element they are in the order of positions. */
template <typename Element, typename Work, typename End>
TOPK_DEVICE void for_subrange(const subranges<Element> &of, int64_t subrange, uint32_t lane, uint32_t lanes,
                              const Work &work, const End &end_step) {
    const uint32_t PER = tile_shape<Element>::PER;
    const int64_t begin = of.begin(subrange), end = of.end(subrange);
    for (int64_t from = of.origin(subrange); from < end; from += DRTOPK_AHEAD * lanes * PER) {
        simt_u32x4 raw[DRTOPK_AHEAD];
#pragma unroll
        for (uint32_t i = 0; i < DRTOPK_AHEAD; i++) {
            const int64_t at = from + (i * lanes + lane) * PER;
            raw[i] = simt_u32x4{0, 0, 0, 0};
            if (at >= begin && at + PER <= end)
                raw[i] = simt_load16_read_only(of.values + at);
        }
#pragma unroll
        for (uint32_t i = 0; i < DRTOPK_AHEAD; i++) {
            const int64_t at = from + (i * lanes + lane) * PER;
            const bool whole = at >= begin && at + PER <= end;
            if (from + i * lanes * PER >= end)
                continue;
#pragma unroll
            for (uint32_t e = 0; e < PER; e++) {
                const bool inside = at + e >= begin && at + e < end;
                key_word_t<Element> bits = bits_in<Element>(raw[i], e);
                if (!whole)
                    bits = inside ? simt_load_read_only(of.values + at + e) : 0;
                work(e, bits, at + e, inside);
            }
            end_step();
        }
    }
}

#endif
