/* SPDX-License-Identifier: Apache-2.0
 * A row in the registers of LANES lanes, ITEMS numbers each; a warp has 32 / LANES rows. Lanes read groups of
 * 16 bytes where a row is aligned to them and a lane holds whole groups; else single elements. In the order
 * of group, lane and item the experts ascend. */
#ifndef TOPK_SRC_CUDA_ROUTE_HELD_CUH
#define TOPK_SRC_CUDA_ROUTE_HELD_CUH

#include "lists.cuh"

/* How the lanes share a row: LANES_ lanes with ITEMS_ numbers each, PER of them side by side. PLAIN_ rows are
 * aligned and full, their scores are logits, and they have no groups. Element is the unsigned integer of an
 * element's width. */
template <typename Element_, uint32_t LANES_, uint32_t ITEMS_, bool PLAIN_> struct row_shape {
    typedef Element_ Element;
    static const uint32_t LANES = LANES_, ITEMS = ITEMS_, EXPERTS = LANES * ITEMS;
    static const bool IS_PLAIN = PLAIN_;
    static const uint32_t ROWS = SIMT_WARP / LANES; /* of a warp */
    static const uint32_t WHOLE = 16 / sizeof(Element);
    static const uint32_t PER = ITEMS < 8 || ITEMS < WHOLE ? 1 : WHOLE < 8 ? 8 : WHOLE;
    static const uint32_t PIECES = ITEMS / PER;
    static const uint32_t GROUPS = (ITEMS + WHOLE - 1) / WHOLE; /* of 16 bytes, of a lane */
    /* Warps load their next rows while they work on these, whose copies are in shared memory: many rows. */
    static const bool IS_AHEAD = LANES == ROUTE_LANES_1;
    static const uint32_t COPY = IS_AHEAD ? GROUPS * LANES : 0; /* groups of a row */

    static TOPK_MEMBER uint32_t lane(void) {
        return simt_lane() % LANES;
    }
    /* The expert of one of the lane's items. */
    static TOPK_MEMBER uint32_t expert(uint32_t item) {
        return lane() * PER + distance(item);
    }
    static TOPK_MEMBER uint32_t distance(uint32_t item) {
        return item + item / PER * PER * (LANES - 1);
    }
};

/* A row of the input. */
template <typename Shape> struct logit_row {
    typedef typename Shape::Element Element;
    const struct route_args &a;
    const Element *logits;
    const route_lists &lists;

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
        if constexpr (Shape::IS_AHEAD) {
            const Element bits = simt_shared_as<Element>(lists.copy)[expert];
            return logit_of_bits(bits);
        } else {
            return logit_of_bits(simt_load_read_only(logits + expert));
        }
    }
    /* Elements of 16 bits: whether they are the upper halves of float32. */
    TOPK_MEMBER bool is_bfloat(void) const {
        return a.format.shift == 16;
    }
    TOPK_MEMBER uint32_t experts(void) const {
        return (uint32_t)a.rows.length_max;
    }
    TOPK_MEMBER bool by_sigmoid(void) const {
        return !Shape::IS_PLAIN && a.by_sigmoid;
    }
    TOPK_MEMBER bool has_biases(void) const {
        return !Shape::IS_PLAIN && a.has_biases;
    }
    /* By which the expert is chosen. */
    TOPK_MEMBER float score(uint32_t expert, float logit) const {
        const float plain = by_sigmoid() ? score_sigmoid(logit) : logit;
        return has_biases() ? score_add(plain, lists.biases[expert]) : plain;
    }
};

/* Rows that a block serves at once. What they share comes first in sums: the threads have it in common. */
struct block_rows {
    int64_t first;
    uint32_t count; /* that exist */

    /* Of row `row` of the block. Rows behind the last one are the last once more. */
    template <typename Shape>
    TOPK_MEMBER logit_row<Shape> logits(const struct route_args &a, uint32_t row,
                                        const route_lists &lists) const {
        const int64_t read = row < count ? row : count - 1;
        const typename Shape::Element *values =
            (const typename Shape::Element *)a.rows.values + first * a.rows.row_stride;
        return logit_row<Shape>{a, values + read * a.rows.row_stride, lists};
    }
};

/* Of a block. Blocks of plain rows may have fewer than ROUTE_THREADS threads. */
template <typename Shape> TOPK_DEVICE uint32_t rows_at_once(void) {
    return (Shape::IS_PLAIN && !Shape::IS_AHEAD ? simt_threads() : (uint32_t)ROUTE_THREADS) / Shape::LANES;
}

template <typename Shape> TOPK_DEVICE block_rows rows_of(const struct route_args &a, int64_t first) {
    const uint32_t rows = rows_at_once<Shape>();
    const int64_t rest = a.rows.rows - first;
    return block_rows{first, rest < rows ? (uint32_t)rest : rows};
}

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

template <typename Shape> struct lane_groups { simt_u32x4 raw[Shape::GROUPS]; };

/* Loads the lane's groups that begin in front of `end`; others become 0. */
template <typename Shape>
TOPK_DEVICE void load_groups(const logit_row<Shape> &row, uint32_t end, lane_groups<Shape> *groups) {
    const typename Shape::Element *first = row.logits + Shape::expert(0);
#pragma unroll
    for (uint32_t i = 0; i < Shape::ITEMS; i += Shape::WHOLE)
        groups->raw[i / Shape::WHOLE] = Shape::expert(i) < end
                                            ? simt_load16_read_only(first + Shape::distance(i))
                                            : simt_u32x4{0, 0, 0, 0};
}

/* Holds what logit_of() makes of each element of the groups. */
template <typename Shape, typename LogitOf>
TOPK_DEVICE void hold_each(const lane_groups<Shape> &groups, float (&held)[Shape::ITEMS], LogitOf logit_of) {
    typedef typename Shape::Element Element;
#pragma unroll
    for (uint32_t i = 0; i < Shape::ITEMS; i++)
        held[i] = logit_of(element_of_group<Element>(groups.raw[i / Shape::WHOLE], i % Shape::WHOLE));
}

/* One instruction makes a float32 of either type of 16 bits. */
template <typename Shape>
TOPK_DEVICE void hold_groups(const logit_row<Shape> &row, const lane_groups<Shape> &groups,
                             float (&held)[Shape::ITEMS]) {
    typedef key_word_t<typename Shape::Element> word;
    if constexpr (sizeof(typename Shape::Element) == 2) {
        if (row.is_bfloat())
            hold_each(groups, held,
                      [](word bits) TOPK_LAMBDA { return score_of_bits((uint32_t)bits << 16); });
        else
            hold_each(groups, held, [](word bits) TOPK_LAMBDA { return simt_float_of_half((uint16_t)bits); });
    } else {
        hold_each(groups, held, [&](word bits) TOPK_LAMBDA { return row.logit_of_bits(bits); });
    }
}

/* Where all rows are whole groups: loads the lane's. */
template <typename Shape>
TOPK_DEVICE void load_ahead(const logit_row<Shape> &row, lane_groups<Shape> *groups) {
    if (Shape::IS_PLAIN || row.experts() == Shape::EXPERTS)
        load_groups(row, UINT32_MAX, groups);
    else
        load_groups(row, row.experts(), groups);
}

/* Holds groups that were loaded ahead, and copies them for logit(). */
template <typename Shape>
TOPK_DEVICE void hold_copied(const logit_row<Shape> &row, const lane_groups<Shape> &groups,
                             float (&held)[Shape::ITEMS]) {
#pragma unroll
    for (uint32_t i = 0; i < Shape::ITEMS; i += Shape::WHOLE)
        row.lists.copy[Shape::expert(i) / Shape::WHOLE] = groups.raw[i / Shape::WHOLE];
    hold_groups(row, groups, held);
}

/* Loads the logits of the lane's experts. Items that are no expert become 0. */
template <typename Shape>
TOPK_DEVICE void hold_logits(const logit_row<Shape> &row, float (&held)[Shape::ITEMS]) {
    const uint32_t experts = row.experts();
    const bool is_aligned = Shape::PER > 1 && (uintptr_t)row.logits % 16 == 0;
    lane_groups<Shape> groups;
    if (Shape::IS_PLAIN || (is_aligned && experts == Shape::EXPERTS)) {
        load_groups(row, UINT32_MAX, &groups);
        hold_groups(row, groups, held);
    } else if (is_aligned && experts % Shape::WHOLE == 0) {
        load_groups(row, experts, &groups);
        hold_groups(row, groups, held);
    } else {
        TOPK_REACHED(REACHED_ROUTE_SINGLE_LOADS);
#pragma unroll
        for (uint32_t i = 0; i < Shape::ITEMS; i++)
            held[i] = Shape::expert(i) < experts ? row.logit(Shape::expert(i)) : 0;
    }
}

/* A thread's share of the biases of a block. */
template <typename Shape> struct thread_biases {
    static const uint32_t COUNT = (Shape::EXPERTS + ROUTE_THREADS - 1) / ROUTE_THREADS;
    float numbers[COUNT];
};

/* 0 if the caller has none, -infinity behind the last expert. */
template <typename Shape>
TOPK_DEVICE void load_biases(const struct route_args &a, thread_biases<Shape> *mine) {
#pragma unroll
    for (uint32_t i = 0; i < thread_biases<Shape>::COUNT; i++) {
        const uint32_t e = i * ROUTE_THREADS + simt_thread();
        const bool is_expert = e < (uint32_t)a.rows.length_max;
        mine->numbers[i] = is_expert ? 0 : minus_infinity();
        if (is_expert && a.bias != nullptr)
            mine->numbers[i] = simt_load_read_only(a.bias + e);
    }
}

/* Fills a block's list. The whole block. */
template <typename Shape>
TOPK_DEVICE void list_biases(const thread_biases<Shape> &mine, simt_shared<float> biases) {
#pragma unroll
    for (uint32_t i = 0; i < thread_biases<Shape>::COUNT; i++)
        if (i * ROUTE_THREADS + simt_thread() < Shape::EXPERTS)
            biases[i * ROUTE_THREADS + simt_thread()] = mine.numbers[i];
    simt_block_sync();
}

#endif
