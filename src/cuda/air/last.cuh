/* SPDX-License-Identifier: Apache-2.0
 * The last filter writes the results of rows whose digits are all known. */
#ifndef TOPK_SRC_CUDA_AIR_LAST_CUH
#define TOPK_SRC_CUDA_AIR_LAST_CUH

#include "../select/ordered_lookback.cuh"
#include "results.cuh"

template <typename Element, typename Source>
TOPK_DEVICE void write_in_order(const struct air_args &a, int64_t row, const struct row &r,
                                const Source &source, const struct kth_range &range,
                                const block_shared<Element> &s) {
    struct air_state *state = &a.states[row];
    lookback_prefixes prefixes = {{(uint64_t)r.k - range.need, range.need},
                                  s.scratch,
                                  s.bases,
                                  a.lookback,
                                  row,
                                  &state->next,
                                  &state->finished};
    filter_row_in_order(source, code_range_of<Element>(a.rows.map, range), prefixes,
                        row_target<Element>{a.rows, a.target, row, r});
}

template <typename Element, bool WHERE>
TOPK_DEVICE void last_of_row(const struct air_args &a, int64_t row, const matcher<Element, WHERE> &predicate,
                             const block_shared<Element> &s) {
    const struct row r = counted_row<WHERE>(a, row);
    const struct air_state state = read_state(&a.states[row]);
    if (state.phase != AIR_DONE) {
        const row_source<Element, WHERE> source = source_of(a.rows, r, predicate);
        const struct result_plan plan = plan_shared_results(a, state, r);
        if (plan.in_order) {
            TOPK_REACHED(REACHED_AIR_LAST_IN_ORDER);
            write_in_order(a, row, r, source, state.range, s);
        } else {
            write_in_any_order(a, row, r, source, among_all_blocks(), state, plan, s);
        }
    }
    if (a.target.kind == TARGET_OUTPUTS)
        pad_row<Element>(a.rows, row, r, among_all_blocks());
}

template <typename Element, bool WHERE>
TOPK_KERNEL TOPK_BOUNDS(AIR_THREADS, AIR_BLOCKS_PER_SM) void air_last(struct air_args a) {
    simt_arena arena = simt_shared_arena();
    block_shared<Element> s = carve_block<Element>(arena, AIR_THREADS / SIMT_WARP, 0);
    simt_wait_predecessor();
    if (a.has_successor)
        simt_allow_successor();
    if (is_called_off(a.rows))
        return;
    const matcher<Element, WHERE> predicate = matcher<Element, WHERE>::of(a.predicate);
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        last_of_row(a, row, predicate, s);
        simt_block_sync();
    }
}

#endif
