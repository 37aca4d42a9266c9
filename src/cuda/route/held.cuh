/* SPDX-License-Identifier: Apache-2.0
 * A row in the registers of LANES lanes, ITEMS numbers each; a warp has 32 / LANES rows. Lanes read groups of
 * 16 bytes where a row is aligned to them and a lane holds whole groups; else single elements. In the order
 * of group, lane and item the experts ascend. */
#ifndef TOPK_SRC_CUDA_ROUTE_HELD_CUH
#define TOPK_SRC_CUDA_ROUTE_HELD_CUH

#include "../rows.cuh"
#include "kernels.h"

/* How the lanes share a row. */
template <typename Element, uint32_t LANES, uint32_t ITEMS> struct logit_shape {
    static const uint32_t WHOLE = 16 / sizeof(Element);
    static const uint32_t PER = ITEMS < 8 || ITEMS < WHOLE ? 1 : WHOLE; /* of a group */
    static const uint32_t GROUPS = ITEMS / PER;

    static TOPK_MEMBER uint32_t lane(void) {
        return simt_lane() % LANES;
    }
    /* The expert of the lane's item. */
    static TOPK_MEMBER uint32_t expert(uint32_t item) {
        return expert_of(lane(), item);
    }
    static TOPK_MEMBER uint32_t expert_of(uint32_t lane, uint32_t item) {
        return (item / PER * LANES + lane) * PER + item % PER;
    }
};

/* A row of the input. Element is the unsigned integer of an element's width. */
template <typename Element> struct logit_row {
    const struct route_args &a;
    const Element *logits;

    TOPK_MEMBER float logit_of_bits(key_word_t<Element> bits) const {
        if constexpr (sizeof(Element) == 8) {
            double wide;
            memcpy(&wide, &bits, sizeof wide);
            return (float)wide;
        } else if constexpr (sizeof(Element) == 4) {
            return score_of_bits(bits);
        } else {
            return logit_of(bits, &a.format);
        }
    }
    TOPK_MEMBER float logit(uint32_t expert) const {
        return logit_of_bits(simt_load_read_only(logits + expert));
    }
    TOPK_MEMBER uint32_t experts(void) const {
        return (uint32_t)a.rows.length_max;
    }
    /* By which the expert is chosen. */
    TOPK_MEMBER float score(uint32_t expert, float logit) const {
        const float plain = a.by_sigmoid ? score_sigmoid(logit) : logit;
        return a.bias != nullptr ? score_add(plain, simt_load_read_only(a.bias + expert)) : plain;
    }
};

template <typename Element>
TOPK_DEVICE key_word_t<Element> element_of_group(const simt_u32x4 &raw, uint32_t item) {
    const uint32_t byte = item * (uint32_t)sizeof(Element);
    const uint32_t word = byte / 4 == 0 ? raw.x : byte / 4 == 1 ? raw.y : byte / 4 == 2 ? raw.z : raw.w;
    if constexpr (sizeof(Element) == 8)
        return byte == 0 ? raw.x | (uint64_t)raw.y << 32 : raw.z | (uint64_t)raw.w << 32;
    else
        return (Element)(word >> byte % 4 * 8);
}

TOPK_DEVICE float minus_infinity(void) {
    return score_of_bits(0xff800000);
}

/* A bit for each item that is an expert: the first ones are. */
template <typename Element, uint32_t LANES, uint32_t ITEMS>
TOPK_DEVICE uint32_t present_items(uint32_t experts) {
    typedef logit_shape<Element, LANES, ITEMS> shape;
    const uint32_t per_group = LANES * shape::PER, before = shape::lane() * shape::PER;
    const uint32_t rest = experts % per_group, more = rest > before ? rest - before : 0;
    const uint32_t items = experts / per_group * shape::PER + (more < shape::PER ? more : shape::PER);
    return items == 0 ? 0 : ~0u >> (32 - items);
}

/* Loads whole groups of items, those that begin in front of `end`; the others become -infinity. */
template <typename Element, uint32_t LANES, uint32_t ITEMS>
TOPK_DEVICE void hold_groups(const logit_row<Element> &row, uint32_t end, float (&held)[ITEMS]) {
    typedef logit_shape<Element, LANES, ITEMS> shape;
    const Element *first = row.logits + shape::expert(0);
    simt_u32x4 raw[shape::GROUPS];
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++)
        raw[g] = shape::expert(g * shape::PER) < end ? simt_load16_read_only(first + g * LANES * shape::PER)
                                                     : simt_u32x4{0, 0, 0, 0};
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const float logit = row.logit_of_bits(element_of_group<Element>(raw[i / shape::PER], i % shape::PER));
        held[i] = shape::expert(i - i % shape::PER) < end ? logit : minus_infinity();
    }
}

/* Loads the logits of the lane's experts; those of items that are none become -infinity. */
template <typename Element, uint32_t LANES, uint32_t ITEMS>
TOPK_DEVICE void hold_logits(const logit_row<Element> &row, float (&held)[ITEMS]) {
    typedef logit_shape<Element, LANES, ITEMS> shape;
    const uint32_t experts = row.experts();
    const bool is_aligned = shape::PER > 1 && (uintptr_t)row.logits % 16 == 0;
    if (is_aligned && experts == LANES * ITEMS) {
        hold_groups<Element, LANES>(row, UINT32_MAX, held);
    } else if (is_aligned && experts % shape::PER == 0) {
        hold_groups<Element, LANES>(row, experts, held);
    } else {
        TOPK_REACHED(REACHED_ROUTE_SINGLE_LOADS);
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            held[i] = shape::expert(i) < experts ? row.logit(shape::expert(i)) : minus_infinity();
    }
}

/* Adds the bias of the lane's experts. */
template <typename Element, uint32_t LANES, uint32_t ITEMS>
TOPK_DEVICE void add_bias(const logit_row<Element> &row, float (&held)[ITEMS]) {
    typedef logit_shape<Element, LANES, ITEMS> shape;
    const float *bias = row.a.bias;
    const uint32_t experts = row.experts();
    if (shape::PER % 4 == 0 && (uintptr_t)bias % 16 == 0 && experts % 4 == 0) {
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i += 4) {
            const uint32_t first = shape::expert(i);
            const simt_u32x4 raw =
                first < experts ? simt_load16_read_only(bias + first) : simt_u32x4{0, 0, 0, 0};
            held[i] = score_add(held[i], score_of_bits(raw.x));
            held[i + 1] = score_add(held[i + 1], score_of_bits(raw.y));
            held[i + 2] = score_add(held[i + 2], score_of_bits(raw.z));
            held[i + 3] = score_add(held[i + 3], score_of_bits(raw.w));
        }
        return;
    }
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        if (shape::expert(i) < experts)
            held[i] = score_add(held[i], simt_load_read_only(bias + shape::expert(i)));
}

#endif
