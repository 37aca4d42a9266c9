/* SPDX-License-Identifier: Apache-2.0
 * The search for a row's threshold, on exact counts of all its codes. */
#ifndef TOPK_SRC_CUDA_RESIDENT_SEARCH_CUH
#define TOPK_SRC_CUDA_RESIDENT_SEARCH_CUH

#include "sample.cuh"

/* A bracket of all codes of the row, divided at the pivots of the sample. All threads. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE code_bracket<Element> sampled_bracket(const row_part<Element, ITEMS> &part,
                                                  const sampled_pivots<Element> &p, uint32_t length,
                                                  uint32_t k, const row_memory<Element> &m, uint32_t *half) {
    const key_word_t<Element> lower = p.lower != 0 ? p.lower : p.upper;
    const pivot_pair<Element> pivots = {lower, p.upper > lower ? p.upper : lower};
    uint32_t lower_count, upper_count;
    share_greatest(part, m);
    lower_count = count_two(part, pivots, m, half, &upper_count);
    code_bracket<Element> b = {0, greatest_of_row(m, part.map), length, 0};
    if (lower == 0)
        return b;
    divide(pivots, lower_count, upper_count, k, &b);
    return b;
}

/* Narrows the bracket until it is closed or few candidates are left, or all of them are results, if that is
 * enough. All threads. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE void narrow_bracket(const row_part<Element, ITEMS> &part, uint32_t k, bool is_kth,
                                const row_memory<Element> &m, uint32_t *half, code_bracket<Element> *b) {
    for (uint32_t step = 0;
         b->candidates() > RESIDENT_FEW && !b->is_closed(part.map) && (is_kth || b->count != k); step++) {
        const pivot_pair<Element> p = choose_pivots(*b, part.map, k, step);
        uint32_t upper_count;
        const uint32_t lower_count = count_two(part, p, m, half, &upper_count);
        divide(p, lower_count, upper_count, k, b);
    }
}

#endif
