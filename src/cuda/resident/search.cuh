/* SPDX-License-Identifier: Apache-2.0
 * The search for a row's threshold, on exact counts of all its codes. */
#ifndef TOPK_SRC_CUDA_RESIDENT_SEARCH_CUH
#define TOPK_SRC_CUDA_RESIDENT_SEARCH_CUH

#include "sample.cuh"

/* Moves the upper bound, which is above all codes of the row, to its best class. One barrier. All threads. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void bound_by_greatest(const row_part<Element, ITEMS> &part, const row_memory<Element> &m,
                                   code_bracket<Element> *b) {
    share_greatest(part, m);
    simt_block_sync();
    b->high = greatest_of_row(m, part.map);
}

/* A bracket of all codes that take part, divided at the pivots of the sample. All threads. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE code_bracket<Element> sampled_bracket(const row_part<Element, ITEMS> &part,
                                                  const sampled_pivots<Element> &p, uint32_t k,
                                                  const row_memory<Element> &m, uint32_t *half) {
    const key_word_t<Element> lower = p.lower != 0 ? p.lower : p.upper;
    const pivot_pair<Element> pivots = {lower, p.upper > lower ? p.upper : lower};
    code_bracket<Element> b = whole_bracket(part);
    if (lower != 0)
        divide(part, pivots, k, m, half, &b);
    if (b.above == 0)
        bound_by_greatest(part, m, &b);
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

/* Candidates that end a search: what the block's warps rank at a time, but two times as many for one warp. */
TOPK_DEVICE uint32_t few_candidates(void) {
    const uint32_t at_once = RANKED_AT_ONCE * (simt_warps() > 1 ? simt_warps() : 2);
    return at_once < RESIDENT_FEW ? at_once : (uint32_t)RESIDENT_FEW;
}

/* Narrows the bracket until it is closed or few candidates are left, or all of them are results, if that is
 * enough. All threads. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void narrow_bracket(const row_part<Element, ITEMS> &part, uint32_t k, bool is_kth,
                                const row_memory<Element> &m, uint32_t *half, code_bracket<Element> *b) {
    const uint32_t few = few_candidates();
    for (uint32_t step = 0; b->candidates() > few && !b->is_closed(part.map) && (is_kth || b->count != k);
         step++) {
        if (step % 4 == 2 && step < RESIDENT_GUESSES) {
            TOPK_REACHED(REACHED_RESIDENT_TIGHTENED);
            tighten_bracket(part, m, b);
            continue;
        }
        divide(part, choose_pivots(*b, part.map, k, step), k, m, half, b);
    }
}

#endif
