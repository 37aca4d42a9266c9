/* SPDX-License-Identifier: Apache-2.0
 * The search in a row that stays in memory, by a warp: short code for rare rows. It bisects words of
 * leads.cuh between elements of the row, so it ends after as many steps as a word has bits. */
#ifndef TOPK_SRC_CUDA_RTOPK_MEMORY_ROW_CUH
#define TOPK_SRC_CUDA_RTOPK_MEMORY_ROW_CUH

#include "leads.cuh"

template <typename Element> struct memory_row {
    typedef key_word_t<Element> word;
    const Element *values;
    uint32_t length;
    const struct code_map &codes;
    const struct lead_map &map;

    TOPK_MEMBER word at(uint32_t position) const {
        return class_word_of<Element>(simt_load_read_only(values + position), codes, map);
    }
};

/* A row's words on both sides of a pivot. */
template <typename Word> struct division {
    uint32_t count; /* of words at or above it */
    Word least;     /* of these */
    Word greatest;  /* of the others */
};

/* All lanes. */
template <typename Element>
TOPK_DEVICE division<key_word_t<Element>> divide_at(const memory_row<Element> &row,
                                                    key_word_t<Element> pivot) {
    typedef key_word_t<Element> word;
    division<word> d = {0, ~(word)0, 0};
#pragma unroll 2
    for (uint32_t position = simt_lane(); position < row.length; position += SIMT_WARP) {
        const word w = row.at(position);
        d.count += w >= pivot ? 1 : 0;
        d.least = w >= pivot && w < d.least ? w : d.least;
        d.greatest = w < pivot && w > d.greatest ? w : d.greatest;
    }
    return {simt_reduce_add(SIMT_ALL_LANES, d.count), simt_reduce_min(SIMT_ALL_LANES, d.least),
            simt_reduce_max(SIMT_ALL_LANES, d.greatest)};
}

/* The k-th word. All lanes. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> kth_word(const memory_row<Element> &row, uint32_t k) {
    typedef key_word_t<Element> word;
    word least = divide_at(row, (word)0).least, greatest = ~(word)0;
    while (least < greatest) {
        const word pivot = least + (greatest - least) / 2 + 1;
        const division<word> d = divide_at(row, pivot);
        if (d.count >= k)
            least = d.least;
        else
            greatest = d.greatest;
        if (d.count == k)
            break;
    }
    return least;
}

/* Lists the positions of the row's k best elements. All lanes. */
template <typename Element>
TOPK_DEVICE void list_best(const memory_row<Element> &row, uint32_t k, simt_shared<uint16_t> list) {
    const key_word_t<Element> kth = kth_word(row, k);
    const uint32_t above = kth + 1 == 0 ? 0 : divide_at<Element>(row, kth + 1).count;
    const uint32_t lower = (1u << simt_lane()) - 1;
    uint32_t winners = 0, ties = above; /* slots */
#pragma unroll 1
    for (uint32_t begin = 0; begin < row.length; begin += SIMT_WARP) {
        const uint32_t position = begin + simt_lane();
        const bool exists = position < row.length;
        const key_word_t<Element> w = row.at(exists ? position : begin);
        const uint32_t win = simt_ballot(SIMT_ALL_LANES, exists && w > kth);
        const uint32_t tie = simt_ballot(SIMT_ALL_LANES, exists && w == kth);
        const bool wins = (win >> simt_lane() & 1) != 0;
        const uint32_t slot = wins ? winners + simt_popc(win & lower) : ties + simt_popc(tie & lower);
        if (slot < k && ((win | tie) >> simt_lane() & 1) != 0)
            list[slot] = (uint16_t)position;
        winners += simt_popc(win);
        ties += simt_popc(tie);
    }
}

#endif
