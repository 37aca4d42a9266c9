/* SPDX-License-Identifier: Apache-2.0
 * The k best of a streamed row whose bound has misled: one block counts the row in memory again and again. */
#ifndef TOPK_SRC_CUDA_RESIDENT_WAY_OUT_CUH
#define TOPK_SRC_CUDA_RESIDENT_WAY_OUT_CUH

#include "kept.cuh"

/* Calls work(element, position) for the thread's elements of a row. */
template <typename Element, typename Work>
TOPK_DEVICE void for_elements(const stream_task<Element> &t, const Work &work) {
#pragma unroll 4
    for (uint32_t i = simt_thread(); i < (uint32_t)t.of_block.r.length; i += RESIDENT_STREAM_THREADS)
        work(t.of_block.element(i), i);
}

/* Codes of the row at or above each pivot. All threads; three barriers. */
template <typename Element>
TOPK_DEVICE pivot_pair<uint32_t> count_in_memory(const stream_task<Element> &t,
                                                 const pivot_pair<Element> &p) {
    const as_uncut_codes<Element> codes = as_uncut_codes<Element>::of_map(t.of_block.a.rows.map);
    const simt_shared<uint32_t> sums = t.m.of_block.counts;
    uint32_t lower = 0, upper = 0;
    if (simt_thread() < 2)
        sums[simt_thread()] = 0;
    simt_block_sync();
    for_elements(t, [&](Element element, uint32_t) TOPK_LAMBDA {
        lower = simt_count_from(lower, codes.of(element), p.lower, 1);
        upper = simt_count_from(upper, codes.of(element), p.upper, 1);
    });
    lower = simt_reduce_add(SIMT_ALL_LANES, lower);
    upper = simt_reduce_add(SIMT_ALL_LANES, upper);
    if (simt_lane() == 0) {
        simt_atomic_add(&sums[0], lower);
        simt_atomic_add(&sums[1], upper);
    }
    simt_block_sync();
    const pivot_pair<uint32_t> found = {sums[0], sums[1]};
    simt_block_sync();
    return found;
}

/* The greatest code of the row. All threads; barriers. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> greatest_in_memory(const stream_task<Element> &t) {
    const as_uncut_codes<Element> codes = as_uncut_codes<Element>::of_map(t.of_block.a.rows.map);
    key_word_t<Element> greatest[1] = {0};
    for_elements(t, [&](Element element, uint32_t) TOPK_LAMBDA {
        const key_word_t<Element> code = codes.of(element);
        greatest[0] = code > greatest[0] ? code : greatest[0];
    });
    greatest[0] = ~greatest[0];
    find_least(t.m.of_block, greatest);
    return ~greatest[0];
}

/* All threads of one block; the lists are empty. */
template <typename Element> TOPK_DEVICE void select_in_memory(const stream_task<Element> &t) {
    const struct code_map &map = t.of_block.a.rows.map;
    const as_uncut_codes<Element> codes = as_uncut_codes<Element>::of_map(map);
    const uint32_t k = t.k(), length = (uint32_t)t.of_block.r.length;
    const key_word_t<Element> high = uncut_class_last<Element>(greatest_in_memory(t), map);
    code_bracket<Element> b = {0, high, {length, 0}, {0, 0}, 0, 0};
    for (uint32_t step = 0; b.count.all != k && !b.is_closed(map); step++) {
        const pivot_pair<Element> p = choose_pivots(b, map, k, step);
        const pivot_pair<uint32_t> found = count_in_memory(t, p);
        divide_at(p.upper, pivot_hits{0, {found.upper, 0}}, k, &b);
        if (found.upper < k)
            divide_at(p.lower, pivot_hits{0, {found.lower, 0}}, k, &b);
    }
    const bool all_count = b.count.all == k; /* at or above the lower bound */
    for_elements(t, [&](Element element, uint32_t position) TOPK_LAMBDA {
        const key_word_t<Element> code = codes.of(element);
        const bool wins = code > b.high || (all_count && code >= b.low);
        if (!wins && (all_count || code < b.low))
            return;
        const uint32_t list = wins ? LISTED_POSITIONS : LISTED_ENTRIES;
        const uint32_t slot = (wins ? 0 : b.above.all) + simt_atomic_add(&t.m.of_block.slots[list], 1);
        if (slot < k)
            t.of_block.write(slot, element, position);
    });
}

#endif
