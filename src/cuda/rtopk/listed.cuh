/* SPDX-License-Identifier: Apache-2.0
 * Few candidates of a row, some for each lane: all of its elements from a code on. A search among them takes
 * a fraction of the instructions that the whole row takes. */
#ifndef TOPK_SRC_CUDA_RTOPK_LISTED_CUH
#define TOPK_SRC_CUDA_RTOPK_LISTED_CUH

#include "shared_row.cuh"

template <typename Element> struct listed_codes {
    static const uint32_t PER = RTOPK_LISTED / SIMT_WARP;
    key_word_t<Element> codes[PER]; /* 0 where there is none */
    uint32_t count;                 /* of the row */

    /* The slot of the lane's item. */
    static TOPK_MEMBER uint32_t slot(uint32_t item) {
        return item * SIMT_WARP + simt_lane();
    }
};

/* Reads the first `count` elements of the task's list of positions. All lanes. */
template <typename Element>
TOPK_DEVICE listed_codes<Element> read_listed(const row_task<Element> &t, const shared_row<Element> &row,
                                              uint32_t count) {
    listed_codes<Element> listed = {};
    listed.count = count;
#pragma unroll
    for (uint32_t i = 0; i < listed.PER; i++)
        if (listed.slot(i) < count)
            listed.codes[i] = row.code((uint16_t)t.lists.positions[listed.slot(i)]);
    return listed;
}

/* As of rows (shared_row.cuh). `low` is not 0. All lanes. */
template <typename Element>
TOPK_DEVICE uint32_t count_from(const listed_codes<Element> &listed, key_word_t<Element> low) {
    simt_tally<key_word_t<Element>> tally;
#pragma unroll
    for (uint32_t i = 0; i < listed.PER; i++)
        tally.add_if_at_least(listed.codes[i], low);
    return simt_reduce_add(SIMT_ALL_LANES, tally.count());
}

template <typename Element>
TOPK_DEVICE key_word_t<Element> least_from(const listed_codes<Element> &listed, key_word_t<Element> low) {
    key_word_t<Element> least = ~(key_word_t<Element>)0;
#pragma unroll
    for (uint32_t i = 0; i < listed.PER; i++)
        least = listed.codes[i] >= low && listed.codes[i] < least ? listed.codes[i] : least;
    return simt_reduce_min(SIMT_ALL_LANES, least);
}

/* Calls put(slot, item) for each candidate of the lane that is at or above `low`; slots count these
 * candidates. All lanes. */
template <typename Element, typename Put>
TOPK_DEVICE void for_listed_from(const listed_codes<Element> &listed, key_word_t<Element> low,
                                 const Put &put) {
    uint32_t first = 0;
#pragma unroll
    for (uint32_t i = 0; i < listed.PER; i++) {
        const bool is_in = listed.slot(i) < listed.count && listed.codes[i] >= low;
        const uint32_t lanes = simt_ballot(SIMT_ALL_LANES, is_in);
        if (is_in)
            put(first + simt_popc(lanes & ((1u << simt_lane()) - 1)), i);
        first += simt_popc(lanes);
    }
}

/* Writes them as results. All lanes. */
template <typename Element>
TOPK_DEVICE void write_listed(const row_task<Element> &t, const listed_codes<Element> &listed,
                              key_word_t<Element> low) {
    for_listed_from(listed, low, [&](uint32_t slot, uint32_t i) TOPK_LAMBDA {
        t.write(slot, (uint16_t)t.lists.positions[listed.slot(i)]);
    });
}

/* Leaves only them in the task's list. All lanes. */
template <typename Element>
TOPK_DEVICE void keep_listed(const row_task<Element> &t, const listed_codes<Element> &listed,
                             key_word_t<Element> low) {
    uint16_t positions[listed_codes<Element>::PER];
#pragma unroll
    for (uint32_t i = 0; i < listed.PER; i++)
        positions[i] = listed.slot(i) < listed.count ? (uint16_t)t.lists.positions[listed.slot(i)] : 0;
    simt_warp_sync(SIMT_ALL_LANES);
    for_listed_from(listed, low,
                    [&](uint32_t slot, uint32_t i) TOPK_LAMBDA { t.lists.positions[slot] = positions[i]; });
}

#endif
