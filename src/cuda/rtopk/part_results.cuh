/* SPDX-License-Identifier: Apache-2.0
 * The results of a row among the leads of a part, from its k-th lead on. */
#ifndef TOPK_SRC_CUDA_RTOPK_PART_RESULTS_CUH
#define TOPK_SRC_CUDA_RTOPK_PART_RESULTS_CUH

#include "parts.cuh"

/* The results that a lane has of its row. */
template <uint32_t ITEMS> struct lane_results {
    item_set<ITEMS> items;
    uint32_t end; /* results of this lane and the lanes before it */
    bool found;   /* whether these are the row's results */
};

/* Adds the first of the row's ties to its winners. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE lane_results<ITEMS> resolve_ties(const part_row<Element, ITEMS> &row,
                                             const struct uniform_rows &u, uint32_t kth,
                                             const lane_results<ITEMS> &hits) {
    TOPK_REACHED(REACHED_RTOPK_NETWORK_TIES);
    const uint32_t end = class_end<Element>(kth, u.map);
    const item_set<ITEMS> better = items_from(row, u, end + 1);
    item_set<ITEMS> winners, ties;
#pragma unroll
    for (uint32_t w = 0; w < item_set<ITEMS>::WORDS; w++) {
        winners.words[w] = end == ~0u ? 0 : better.words[w];
        ties.words[w] = hits.items.words[w] & ~winners.words[w];
    }
    const uint32_t above = part_sum(row.part, winners.count());
    lane_results<ITEMS> results;
    results.found = hits.found || (sizeof(Element) < 8 && above < u.k);
    ties = first_ties(row, ties, results.found ? u.k - above : 0);
#pragma unroll
    for (uint32_t w = 0; w < item_set<ITEMS>::WORDS; w++)
        results.items.words[w] = winners.words[w] | ties.words[w];
    uint32_t total;
    results.end = results.items.count();
    results.end += part_scan(row.part, results.end, &total);
    return results;
}

/* The results among a row's items from its k-th lead on. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE lane_results<ITEMS> results_among(const part_row<Element, ITEMS> &row,
                                              const struct uniform_rows &u, uint32_t kth,
                                              const item_set<ITEMS> &items) {
    lane_results<ITEMS> results = {items, 0, false};
    uint32_t total;
    results.end = results.items.count();
    results.end += part_scan(row.part, results.end, &total);
    results.found = total == u.k;
    if (simt_any(SIMT_ALL_LANES, !results.found))
        results = resolve_ties(row, u, kth, results);
    return results;
}

/* The row's elements from its k-th lead on. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE lane_results<ITEMS> results_of(const part_row<Element, ITEMS> &row, const struct uniform_rows &u,
                                           uint32_t kth) {
    return results_among(row, u, kth, items_from(row, u, class_begin<Element>(kth, u.map)));
}

/* Lists position_of(word, bit) of each bit in a lane's words; the bits of word w end at slot ends[w] - 1. */
template <uint32_t WORDS, typename PositionOf>
TOPK_DEVICE void list_bits(uint32_t (&words)[WORDS], const uint32_t (&ends)[WORDS],
                           simt_shared<uint16_t> list, const PositionOf &position_of) {
    simt_appender to[WORDS];
    uint32_t any = 0;
#pragma unroll
    for (uint32_t w = WORDS; w-- > 0;) {
        to[w] = simt_append_at(list, ends[w]);
        any |= words[w];
    }
#pragma unroll 1
    while (any != 0) {
        any = 0;
#pragma unroll
        for (uint32_t w = 0; w < WORDS; w++) {
            const uint32_t bit = 31 - simt_clz(words[w]);
            to[w].prepend_if(words[w], (uint16_t)position_of(w, bit));
            words[w] &= ~(1u << bit % 32);
            any |= words[w];
        }
    }
}

/* Lists the positions of a row's results, `end` being the slot behind the lane's last one. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void list_results(const part_row<Element, ITEMS> &row, const item_set<ITEMS> &results,
                              simt_shared<uint16_t> list, uint32_t end) {
    item_set<ITEMS> rest = results;
    uint32_t ends[item_set<ITEMS>::WORDS];
#pragma unroll
    for (uint32_t w = item_set<ITEMS>::WORDS; w-- > 0;) {
        ends[w] = end;
        end -= simt_popc(rest.words[w]);
    }
    list_bits(rest.words, ends, list,
              [&](uint32_t w, uint32_t bit) TOPK_LAMBDA { return row.position(32 * w + bit); });
}

/* The same without a branch, for many results; `begin` is the slot of the lane's first one. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void append_results(const part_row<Element, ITEMS> &row, const item_set<ITEMS> &results,
                                simt_shared<uint16_t> list, uint32_t begin) {
    simt_appender to = simt_append_at(list, begin);
    uint32_t position = row.position(0);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        to.append_if(results.words[i / 32] & 1u << i % 32, (uint16_t)position);
        position += row.step_from(i);
    }
}

#endif
