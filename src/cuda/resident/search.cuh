/* SPDX-License-Identifier: Apache-2.0
 * The search for a row's threshold, on exact counts of all its codes. */
#ifndef TOPK_SRC_CUDA_RESIDENT_SEARCH_CUH
#define TOPK_SRC_CUDA_RESIDENT_SEARCH_CUH

#include "sample.cuh"

/* Moves the upper bound, which is above all codes of the row, to its best class. One barrier. All threads. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE void bound_by_greatest(const row_part<Element, ITEMS> &part, const row_memory<Element, Team> &m,
                                   code_bracket<Element> *b) {
    key_word_t<Element> less[1] = {~best_of_first(part, ITEMS)};
    find_least(m, less);
    b->high = uncut_class_last<Element>(~less[0], part.map);
}

/* A bracket of all codes that take part, divided at the pivots of the sample. All threads. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE code_bracket<Element> sampled_bracket(const row_part<Element, ITEMS> &part,
                                                  const sampled_pivots<Element> &p, uint32_t k,
                                                  const row_memory<Element, Team> &m, uint32_t *turn) {
    const key_word_t<Element> lower = p.lower != 0 ? p.lower : p.upper;
    const pivot_pair<Element> pivots = {lower, p.upper > lower ? p.upper : lower};
    code_bracket<Element> b = whole_bracket(part);
    if (lower != 0)
        divide(part, pivots, k, m, turn, &b);
    if (b.above.all == 0)
        bound_by_greatest(part, m, &b);
    return b;
}

/* Moves the bounds to codes of the row. One barrier; and another one must come before the next call. All
 * threads. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE void tighten_bracket(const row_part<Element, ITEMS> &part, const row_memory<Element, Team> &m,
                                 code_bracket<Element> *b) {
    typedef key_word_t<Element> word;
    word from_low = ~(word)0, to_high = ~(word)0; /* codes that are outside wrap, and are farther away */
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++) {
        from_low = part.code(i) - b->low < from_low ? part.code(i) - b->low : from_low;
        to_high = b->high - part.code(i) < to_high ? b->high - part.code(i) : to_high;
    }
    word least[2] = {from_low, to_high};
    find_least(m, least);
    b->low = uncut_class_first<Element>(b->low + least[0], part.map);
    b->high = uncut_class_last<Element>(b->high - least[1], part.map);
}

/* Candidates that end a search: what the block's warps rank at a time, but two times as many for one warp. In
 * a cluster a step takes longer than ranks do; but if all results are ranked together, these are few, too. */
template <typename Team> TOPK_DEVICE uint32_t few_candidates(bool is_sorted) {
    static_assert((int)RESIDENT_CLUSTER_FEW <= (int)RESIDENT_LIST, "a list has room for them");
    const uint32_t at_once = RANKED_AT_ONCE * (simt_warps() > 1 ? simt_warps() : 2);
    if (Team::IS_CLUSTER)
        return is_sorted ? RESIDENT_FEW : RESIDENT_CLUSTER_FEW;
    return at_once < RESIDENT_FEW ? at_once : (uint32_t)RESIDENT_FEW;
}

/* Narrows the bracket until it is closed or few candidates are left, or all of them are results, if that is
 * enough. All threads. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE void narrow_bracket(const team_task<Element, Team> &t, const row_part<Element, ITEMS> &part,
                                bool is_kth, uint32_t *turn, code_bracket<Element> *b) {
    const uint32_t k = (uint32_t)t.r.k, few = few_candidates<Team>(t.a.is_sorted);
    for (uint32_t step = 0; b->candidates() > few && !b->is_closed(part.map) && (is_kth || b->count.all != k);
         step++) {
        if (step % 4 == 2 && step < RESIDENT_GUESSES) {
            TOPK_REACHED(REACHED_RESIDENT_TIGHTENED);
            tighten_bracket(part, t.memory, b);
            continue;
        }
        divide(part, choose_pivots(*b, part.map, k, step), k, t.memory, turn, b);
    }
}

#endif
