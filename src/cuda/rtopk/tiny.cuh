/* SPDX-License-Identifier: Apache-2.0
 * The kernels for rows of one length that a thread has to itself. */
#ifndef TOPK_SRC_CUDA_RTOPK_TINY_CUH
#define TOPK_SRC_CUDA_RTOPK_TINY_CUH

#include "../select/held.cuh"
#include "leads.cuh"
#include "tiny_stage.cuh"

/* A row in registers. Words (leads.cuh) ascend with keys, and items behind the row have word 0. */
template <typename Element, uint32_t ITEMS> struct tiny_row {
    Element items[ITEMS];
    key_word_t<Element> words[ITEMS];
};

/* The elements of the warp's row `row`. A row that fills its groups of 16 bytes is read by these. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void load_tiny_items(const tiny_stage<Element> &stage, uint32_t row, uint32_t length,
                                 Element (&items)[ITEMS]) {
    const uint32_t PER = tiny_stage<Element>::PER;
    if constexpr (ITEMS % PER == 0) {
        if (length == ITEMS) {
#pragma unroll
            for (uint32_t i = 0; i < ITEMS; i += PER) {
                const simt_u32x4 words = stage.groups[(row * ITEMS + i) / PER];
                const held_group group = {{words.x, words.y, words.z, words.w}};
#pragma unroll
                for (uint32_t at = 0; at < PER; at++)
                    items[i + at] = (Element)bits_of_group<Element>(group, at);
            }
            return;
        }
    }
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        items[i] = i < length ? (Element)stage.elements()[row * length + i] : (Element)0;
}

template <typename Element, uint32_t ITEMS>
TOPK_DEVICE tiny_row<Element, ITEMS> load_tiny_row(const struct rtopk_args &a,
                                                   const tiny_stage<Element> &stage, uint32_t row) {
    const struct uniform_rows &u = a.uniform;
    tiny_row<Element, ITEMS> r;
    load_tiny_items(stage, row, u.length, r.items);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        r.words[i] = i < u.length ? class_word_of<Element>(r.items[i], a.rows.map, u.map) : 0;
    return r;
}

/* How many items are better than each, in four bits each. */
template <uint32_t ITEMS> struct tiny_ranks {
    static_assert(ITEMS <= 16, "a rank has four bits");
    static const uint32_t WORDS = (ITEMS + 7) / 8;
    uint32_t words[WORDS];

    TOPK_MEMBER uint32_t of(uint32_t item) const {
        return words[item / 8] >> item % 8 * 4 & 15;
    }
};

/* Ranks item J among those before it, and then the items behind it. Of items that tie the first is better. */
template <uint32_t J, typename Element, uint32_t ITEMS>
TOPK_DEVICE void rank_from(const tiny_row<Element, ITEMS> &r, uint32_t length, tiny_ranks<ITEMS> &ranks) {
    if constexpr (J < ITEMS) {
        if (J >= length)
            return;
        /* J is better than all before it, unless one of these is. */
        const uint32_t of_j = 1u << J % 8 * 4;
#pragma unroll
        for (uint32_t w = 0; w <= (J - 1) / 8; w++)
            ranks.words[w] += J >= 8 * w + 8 ? 0x11111111 : (of_j - 1) / 15;
#pragma unroll
        for (uint32_t i = 0; i < J; i++) {
            const uint32_t of_i = 1u << i % 8 * 4;
            uint32_t *of_both = &ranks.words[J / 8];
            if (i / 8 == J / 8) {
                *of_both = simt_count_from(*of_both, r.words[i], r.words[J], of_j - of_i);
            } else {
                *of_both = simt_count_from(*of_both, r.words[i], r.words[J], of_j);
                ranks.words[i / 8] = simt_count_from(ranks.words[i / 8], r.words[i], r.words[J], 0u - of_i);
            }
        }
        rank_from<J + 1>(r, length, ranks);
    }
}

template <typename Element, uint32_t ITEMS>
TOPK_DEVICE tiny_ranks<ITEMS> ranks_of(const tiny_row<Element, ITEMS> &r, uint32_t length) {
    tiny_ranks<ITEMS> ranks = {};
    rank_from<1>(r, length, ranks);
    return ranks;
}

/* Puts the results of the warp's row `row` into its slots, best first or by position. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void put_ranked(const tiny_row<Element, ITEMS> &r, const tiny_ranks<ITEMS> &ranks,
                            const struct rtopk_args &a, const tiny_stage<Element> &stage, uint32_t row) {
    const struct uniform_rows &u = a.uniform;
    uint32_t before = 0;
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint32_t rank = ranks.of(i), slot = row * u.k + (a.by_position ? before : rank);
        if (i < u.length && rank < u.k) {
            stage.elements()[slot] = r.items[i];
            stage.positions()[slot] = (uint16_t)i;
            before++;
        }
    }
}

/* The only result of a row. */
template <typename Element> struct tiny_best {
    Element bits;
    uint32_t position;
    key_word_t<Element> word;

    /* Takes an element behind all others so far. */
    TOPK_MEMBER void take(Element other, uint32_t at, key_word_t<Element> other_word) {
        const bool is_better = other_word > word;
        bits = is_better ? other : bits;
        position = is_better ? at : position;
        word = is_better ? other_word : word;
    }
    TOPK_MEMBER void put(const tiny_stage<Element> &stage, uint32_t row) const {
        stage.elements()[row] = bits;
        stage.positions()[row] = (uint16_t)position;
    }
};

template <typename Element, uint32_t ITEMS>
TOPK_DEVICE tiny_best<Element> best_item(const tiny_row<Element, ITEMS> &r) {
    tiny_best<Element> best = {r.items[0], 0, r.words[0]};
#pragma unroll
    for (uint32_t i = 1; i < ITEMS; i++)
        best.take(r.items[i], i, r.words[i]);
    return best;
}

/* Of a row of any length, from shared memory. */
template <typename Element>
TOPK_DEVICE tiny_best<Element> best_element(const struct rtopk_args &a, const tiny_stage<Element> &stage,
                                            uint32_t row) {
    const uint32_t n = a.uniform.length;
    const Element first = stage.elements()[row * n];
    tiny_best<Element> best = {first, 0, class_word_of<Element>(first, a.rows.map, a.uniform.map)};
#pragma unroll 4
    for (uint32_t i = 1; i < n; i++) {
        const Element bits = stage.elements()[row * n + i];
        best.take(bits, i, class_word_of<Element>(bits, a.rows.map, a.uniform.map));
    }
    return best;
}

/* Serves 32 rows of the warp from `first` on. Rows are read before results take their slots. All lanes. */
template <typename Element, uint32_t ITEMS, uint32_t KEPT>
TOPK_DEVICE void serve_tiny(const struct rtopk_args &a, const served_rows &s,
                            const tiny_stage<Element> &stage, uint32_t first) {
    const uint32_t row = first + simt_lane(), last = s.count - 1;
    const uint32_t read = row < last ? row : last;
    if constexpr (KEPT == 1) {
        const tiny_best<Element> best = best_element<Element>(a, stage, read);
        simt_warp_sync(SIMT_ALL_LANES);
        if (row <= last)
            best.put(stage, row);
    } else {
        const tiny_row<Element, ITEMS> r = load_tiny_row<Element, ITEMS>(a, stage, read);
        simt_warp_sync(SIMT_ALL_LANES);
        if (row <= last && a.uniform.k == 1)
            best_item(r).put(stage, row);
        else if (row <= last)
            put_ranked(r, ranks_of(r, a.uniform.length), a, stage, row);
    }
}

/* For rows of up to ITEMS elements; if KEPT is 1, for the best of each. */
template <typename Element, uint32_t ITEMS, uint32_t KEPT>
TOPK_KERNEL TOPK_BOUNDS(RTOPK_THREADS,
                        (sizeof(Element) == 8 ? 6
                                              : 12)) void rtopk_tiny(TOPK_CONSTANT_ARGS struct rtopk_args a) {
    if (is_called_off(a.rows))
        return;
    served_rows s = rows_of_warp(a, SIMT_WARP << a.uniform.row_shift);
    if (s.count == 0)
        return;
    s.count = simt_in_register(s.count);
    const tiny_stage<Element> stage = stage_of_warp<Element>(a);
    stage_rows(a, s, stage);
    simt_warp_sync(SIMT_ALL_LANES);
#pragma unroll 1
    for (uint32_t first = 0; first < s.count; first += SIMT_WARP) {
        if (first != 0)
            TOPK_REACHED(REACHED_RTOPK_TINY_NEXT_ROWS);
        serve_tiny<Element, ITEMS, KEPT>(a, s, stage, first);
    }
    simt_warp_sync(SIMT_ALL_LANES);
    write_stage<Element>(a, s, stage);
    if (a.uniform.has_padding)
        write_rests<Element>(a, s);
}

#endif
