/* SPDX-License-Identifier: Apache-2.0
 * The last filter writes the results of rows whose digits are all known. */
#ifndef TOPK_SRC_CUDA_AIR_LAST_CUH
#define TOPK_SRC_CUDA_AIR_LAST_CUH

#include "../select/ordered_lookback.cuh"
#include "results.cuh"

template <typename Element, bool WHERE>
TOPK_DEVICE void write_in_order(const divided_row<Element, WHERE> &w) {
    const struct kth_range &range = w.state.range;
    struct air_state *counters = w.counters();
    lookback_prefixes prefixes = {{(uint64_t)w.r.k - range.need, range.need},
                                  w.s.scratch,
                                  w.s.bases,
                                  w.a.lookback,
                                  w.row,
                                  &counters->next,
                                  &counters->finished};
    filter_row_in_order(w.source, w.range(), prefixes, w.target());
}

template <typename Element, bool WHERE>
TOPK_DEVICE void last_of_row(const struct air_args &a, int64_t row, const matcher<Element, WHERE> &predicate,
                             const block_shared<Element> &s) {
    const struct row r = counted_row<WHERE>(a, row);
    const divided_row<Element, WHERE> w = {
        a, s, row, r, source_of(a.rows, r, predicate), read_state(&a.states[row])};
    if (w.state.phase != AIR_DONE) {
        const struct result_plan plan = plan_shared_results(w);
        if (plan.in_order) {
            TOPK_REACHED(REACHED_AIR_LAST_IN_ORDER);
            write_in_order(w);
        } else {
            write_in_any_order(w, among_all_blocks(), plan);
        }
    }
    if (a.target.kind == TARGET_OUTPUTS)
        pad_row<Element>(a.rows, row, r, among_all_blocks());
}

template <typename Element, bool WHERE>
TOPK_KERNEL TOPK_BOUNDS(AIR_THREADS, AIR_BLOCKS_PER_SM) void air_last(struct air_args a) {
    simt_arena arena = simt_shared_arena();
    const block_shared<Element> s = carve_block<Element>(arena, AIR_THREADS / SIMT_WARP, 0);
    for_shared_rows<Element, WHERE, TOPK_PATH(REACHED_AIR_LAST_NEXT_ROW)>(
        a, [&](int64_t row, const matcher<Element, WHERE> &predicate)
               TOPK_LAMBDA { last_of_row(a, row, predicate, s); });
}

#endif
