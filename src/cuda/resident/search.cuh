/* SPDX-License-Identifier: Apache-2.0
 * The search for a row's threshold, on exact counts of all its codes. */
#ifndef TOPK_SRC_CUDA_RESIDENT_SEARCH_CUH
#define TOPK_SRC_CUDA_RESIDENT_SEARCH_CUH

#include "sample.cuh"

/* A bracket of all codes of the row, divided at the pivots of the sample. All threads. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE code_bracket<Element> sampled_bracket(const row_part<Element, ITEMS> &part,
                                                  const sampled_pivots<Element> &p, uint32_t k,
                                                  const row_memory<Element> &m, uint32_t *half) {
    const key_word_t<Element> lower = p.lower != 0 ? p.lower : p.upper;
    const pivot_pair<Element> pivots = {lower, p.upper > lower ? p.upper : lower};
    uint32_t lower_count, upper_count;
    share_greatest(part, m);
    lower_count = count_two(part, pivots, m, half, &upper_count);
    code_bracket<Element> b = {0, greatest_of_row(m, part.map), part.count, 0};
    if (lower == 0)
        return b;
    divide(pivots, lower_count, upper_count, k, &b);
    return b;
}

/* Moves the bounds to codes of the row. One barrier; and another one must come before the next call. All
 * threads. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void tighten_bracket(const row_part<Element, ITEMS> &part, const row_memory<Element> &m,
                                 code_bracket<Element> *b) {
    typedef key_word_t<Element> word;
    word from_low = ~(word)0, to_high = ~(word)0; /* codes that are outside wrap, and are farther away */
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        from_low = part.code(i) - b->low < from_low ? part.code(i) - b->low : from_low;
        to_high = b->high - part.code(i) < to_high ? b->high - part.code(i) : to_high;
    }
    from_low = simt_reduce_min(SIMT_ALL_LANES, from_low);
    to_high = simt_reduce_min(SIMT_ALL_LANES, to_high);
    if (simt_lane() == 0) {
        m.best[simt_warp()] = from_low;
        m.best[SIMT_WARP + simt_warp()] = to_high;
    }
    simt_block_sync();
    const bool exists = simt_lane() < simt_warps();
    from_low = exists ? (word)m.best[simt_lane()] : ~(word)0;
    to_high = exists ? (word)m.best[SIMT_WARP + simt_lane()] : ~(word)0;
    b->low = uncut_class_first<Element>(b->low + simt_reduce_min(SIMT_ALL_LANES, from_low), part.map);
    b->high = uncut_class_last<Element>(b->high - simt_reduce_min(SIMT_ALL_LANES, to_high), part.map);
}

/* Narrows the bracket until it is closed or few candidates are left, or all of them are results, if that is
 * enough. All threads. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void narrow_bracket(const row_part<Element, ITEMS> &part, uint32_t k, bool is_kth,
                                const row_memory<Element> &m, uint32_t *half, code_bracket<Element> *b) {
    for (uint32_t step = 0;
         b->candidates() > RESIDENT_FEW && !b->is_closed(part.map) && (is_kth || b->count != k); step++) {
        if (step % 4 == 2 && step < RESIDENT_GUESSES) {
            TOPK_REACHED(REACHED_RESIDENT_TIGHTENED);
            tighten_bracket(part, m, b);
            continue;
        }
        const pivot_pair<Element> p = choose_pivots(*b, part.map, k, step);
        uint32_t upper_count;
        const uint32_t lower_count = count_two(part, p, m, half, &upper_count);
        divide(p, lower_count, upper_count, k, b);
    }
}

#endif
