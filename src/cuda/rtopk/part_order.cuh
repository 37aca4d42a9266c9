/* SPDX-License-Identifier: Apache-2.0
 * Results in their order. Lanes take a row's results as words of 32 bits and sort these: the upper bits are
 * of the key, the lower ones the complement of the position. Where words lose bits of keys, neighbours whose
 * upper bits are equal may be in the wrong order. They are exchanged until none is. */
#ifndef TOPK_SRC_CUDA_RTOPK_PART_ORDER_CUH
#define TOPK_SRC_CUDA_RTOPK_PART_ORDER_CUH

#include "lead_list.cuh"
#include "part_sort.cuh"
#include "uniform.cuh"

/* A row's results: positions in slots, and leads or no_leads in the same ones. */
template <typename Element, typename Row, typename Positions, typename Leads> struct row_results {
    const struct rtopk_args &a;
    Row row; /* where its elements are */
    Positions list;
    Leads leads;

    TOPK_MEMBER key_word_t<Element> key(uint32_t position) const {
        return class_word_of<Element>(row.element(position), a.rows.map, a.uniform.map);
    }
    /* Of the result that was listed in this slot. */
    TOPK_MEMBER key_word_t<Element> key_in(uint32_t slot) const {
        return key_from(leads, slot);
    }
    TOPK_MEMBER key_word_t<Element> key_from(const no_leads &, uint32_t slot) const {
        return key((uint32_t)list[slot]);
    }
    TOPK_MEMBER key_word_t<Element> key_from(const spread_words &listed, uint32_t slot) const {
        return (key_word_t<Element>)class_word_of_lead<Element>((uint32_t)listed[slot], a.uniform.map);
    }
    /* The bits of a word that have the position. */
    TOPK_MEMBER uint32_t mask(void) const {
        return sizeof(Element) < 4 ? 0xffff : a.uniform.position_mask;
    }
};

/* Keys times `factor`, plus `offset`: 0 for the least one of a row, and the greatest fills the upper bits. */
template <typename Word> struct key_scale { Word factor, offset; };

/* All lanes. */
template <uint32_t WORDS, typename Word>
TOPK_DEVICE key_scale<Word> scale_of(const Word (&keys)[WORDS], const lane_part &part) {
    Word least = keys[0], greatest = keys[0];
#pragma unroll
    for (uint32_t i = 1; i < WORDS; i++) {
        least = keys[i] < least ? keys[i] : least;
        greatest = keys[i] > greatest ? keys[i] : greatest;
    }
#pragma unroll 1
    for (uint32_t s = 0; s < part.shift; s++) {
        const Word low = exchange(least, 1u << s), high = exchange(greatest, 1u << s);
        least = low < least ? low : least;
        greatest = high > greatest ? high : greatest;
    }
    const Word factor = (Word)1 << simt_clz((greatest - least) | 1);
    return {factor, (Word)0 - least * factor};
}

/* Makes words of the lane's share of a row's results; words behind the last one are 0. Returns whether they
 * have all bits of the keys. All lanes. */
template <uint32_t WORDS, typename Element, typename Row, typename Positions, typename Leads>
TOPK_DEVICE bool load_words(const row_results<Element, Row, Positions, Leads> &row, const lane_part &part,
                            uint32_t (&words)[WORDS]) {
    typedef key_word_t<Element> word;
    const uint32_t begin = part.lane * WORDS, last = row.a.uniform.k - WORDS;
    const uint32_t first = begin < last ? begin : last; /* slots before `begin` are other lanes' */
    word keys[WORDS], bits = 0;
#pragma unroll
    for (uint32_t i = 0; i < WORDS; i++)
        keys[i] = row.key_in(first + i);
    key_scale<word> scale = {1, 0}; /* narrow keys are upper bits */
    if constexpr (sizeof(Element) >= 4)
        scale = scale_of(keys, part);
#pragma unroll
    for (uint32_t i = 0; i < WORDS; i++) {
        const word key = keys[i] * scale.factor + scale.offset;
        const uint32_t upper = (uint32_t)(key >> (8 * sizeof(word) - 32)), position = row.list[first + i];
        bits |= key;
        words[i] = (upper & ~row.mask()) | (~position & row.mask());
    }
    if (first != begin) {
#pragma unroll
        for (uint32_t i = 0; i < WORDS; i++)
            words[i] = i < begin - first ? 0 : words[i];
    }
    const word kept = (word)~row.mask() << (8 * sizeof(word) - 32);
    return sizeof(Element) < 4 || (bits & ~kept) == 0;
}

/* Which of the lane's words have the upper bits of the word behind them. From its first one on `count` are
 * words of results that have one behind them. All lanes. */
template <uint32_t WORDS>
TOPK_DEVICE uint32_t equal_words(const uint32_t (&words)[WORDS], uint32_t mask, uint32_t count) {
    const uint32_t next = simt_shuffle_down(SIMT_ALL_LANES, words[0], 1);
    uint32_t differing = 0;
#pragma unroll
    for (uint32_t i = 0; i < WORDS; i++) {
        const uint32_t other = i + 1 < WORDS ? words[(i + 1) % WORDS] : next;
        differing = simt_count_from(differing, words[i] ^ other, mask + 1, 1u << i);
    }
    const uint32_t own = count < WORDS ? count : WORDS;
    return ~differing & (own < 32 ? (1u << own) - 1 : ~0u);
}

/* Exchanges the results of a slot and the next one if they are in the wrong order: whether they were. */
template <typename Element, typename Row, typename Positions, typename Leads>
TOPK_DEVICE bool order_two(const row_results<Element, Row, Positions, Leads> &row, uint32_t slot) {
    const uint32_t first = row.list[slot], second = row.list[slot + 1];
    const key_word_t<Element> a = row.key(first), b = row.key(second);
    if (a > b || (a == b && first < second))
        return false;
    TOPK_REACHED(REACHED_RTOPK_NETWORK_EXCHANGED);
    put_position(row.list, slot, second);
    put_position(row.list, slot + 1, first);
    return true;
}

/* Puts runs of results in order. `equal`: which of the lane's slots, from `begin` on, are in a run with the
 * next one. All lanes. */
template <typename Element, typename Row, typename Positions, typename Leads>
TOPK_NOINLINE void order_runs(row_results<Element, Row, Positions, Leads> row, uint32_t begin,
                              uint32_t equal) {
    bool was_wrong = true;
    while (simt_any(SIMT_ALL_LANES, was_wrong)) {
        was_wrong = false;
        /* Pairs, then the pairs between these. */
        for (uint32_t half = 0x55555555, h = 0; h < 2; h++, half = ~half) {
            for (uint32_t slots = equal & half; slots != 0; slots &= slots - 1)
                was_wrong |= order_two(row, begin + simt_ffs(slots) - 1);
            simt_warp_sync(SIMT_ALL_LANES);
        }
    }
}

/* Puts the results of a row in order. All lanes. */
template <uint32_t WORDS, typename Element, typename Row, typename Positions, typename Leads>
TOPK_DEVICE void order_row(const row_results<Element, Row, Positions, Leads> &row, const lane_part &part,
                           bool has_row) {
    uint32_t words[WORDS];
    const bool is_clear = load_words(row, part, words);
    sort_over_part(words, part);
    simt_warp_sync(SIMT_ALL_LANES); /* all have read the lists */
    const uint32_t begin = part.lane * WORDS, k = has_row ? row.a.uniform.k : 0;
    const uint32_t count = begin < k ? k - begin : 0;
#pragma unroll
    for (uint32_t i = 0; i < WORDS; i++)
        if (i < count)
            put_position(row.list, begin + i, ~words[i] & row.mask());
    simt_warp_sync(SIMT_ALL_LANES);
    if constexpr (sizeof(Element) >= 4)
        if (simt_any(SIMT_ALL_LANES, !is_clear))
            order_runs(row, begin, equal_words(words, row.mask(), count == 0 ? 0 : count - 1));
}

/* Puts the listed results of the warp's rows in order, but leaves the leads. Lists have u.k slots for each
 * row. A lane takes u.order_words of them: 2, 4 and so on, or MOST. All lanes. */
template <typename Element, uint32_t MOST, uint32_t WORDS = 2, typename Rows, typename Positions,
          typename Leads>
TOPK_DEVICE void order_rows(const struct rtopk_args &a, const served_rows &s, const Rows &rows,
                            const Positions &list, const Leads &leads) {
    const struct uniform_rows &u = a.uniform;
    if constexpr (WORDS < MOST) {
        if (u.order_words > WORDS) {
            order_rows<Element, MOST, RTOPK_ORDER_NEXT(WORDS, MOST)>(a, s, rows, list, leads);
            return;
        }
    }
    const lane_part part = part_of_lane(u.order_shift);
#pragma unroll 1
    for (uint32_t first = 0; first < s.count; first += SIMT_WARP >> u.order_shift) {
        const bool has_row = first + (simt_lane() >> part.shift) < s.count;
        const uint32_t r = has_row ? first + (simt_lane() >> part.shift) : 0;
        const auto elements = rows.row(r).in_register();
        const row_results<Element, decltype(elements), Positions, Leads> row = {
            a, elements, slots_from(list, r * u.k, u.k), slots_from(leads, r * u.k, u.k)};
        order_row<WORDS>(row, part, has_row);
    }
}

#endif
