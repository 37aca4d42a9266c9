/* SPDX-License-Identifier: Apache-2.0
 * Writing the results of a row whose digits are known, in any order. */
#ifndef TOPK_SRC_CUDA_AIR_RESULTS_CUH
#define TOPK_SRC_CUDA_AIR_RESULTS_CUH

#include "state.cuh"

/* plan_results() for a row that blocks share. Ties that may be any are found in order, too, where that reads
 * less of the input: if all results tie, many more elements do than are needed, but so few that a warp would
 * read long until it had 32 to write. */
TOPK_DEVICE struct result_plan plan_shared_results(const struct air_args &a, const struct air_state &state,
                                                   const struct row &r) {
    const struct kth_range &range = state.range;
    struct result_plan plan = plan_results(a.target, range, r.k);
    bool rare = range.candidates < (uint64_t)r.length / AIR_RARE_TIES;
    bool early = state.is_buffered == 0 && plan.winners == 0 && range.candidates / 4 > range.need;
    bool is_long = a.lookback.tiles > (int64_t)AIR_LONG_FILTER * simt_blocks();
    if (a.target.ties_free && is_long && early && rare) {
        TOPK_REACHED(REACHED_AIR_RARE_TIES);
        plan.in_order = true;
    }
    return plan;
}

/* Where winners and ties of a shared row go. */
template <typename Element>
using shared_row_sink = result_sink<Element, row_target<Element>, struct global_slots>;

template <typename Element>
TOPK_DEVICE shared_row_sink<Element> winner_sink(const struct air_args &a, int64_t row, const struct row &r,
                                                 uint64_t winners) {
    return result_sink_of<Element>(row_target<Element>{a.rows, a.target, row, r},
                                   global_slots{&a.states[row].winners}, 0, winners);
}

template <typename Element>
TOPK_DEVICE shared_row_sink<Element> tie_sink(const struct air_args &a, int64_t row, const struct row &r,
                                              const struct result_plan &plan) {
    return result_sink_of<Element>(row_target<Element>{a.rows, a.target, row, r},
                                   global_slots{&a.states[row].ties}, plan.winners, plan.ties);
}

/* Writes the block's share of the results. */
template <typename Element, typename Source>
TOPK_DEVICE void write_in_any_order(const struct air_args &a, int64_t row, const struct row &r,
                                    const Source &source, struct share share, const struct air_state &state,
                                    const struct result_plan &plan, const block_shared<Element> &s) {
    const code_range<Element> range = code_range_of<Element>(a.rows.map, state.range);
    auto queues = queues_over(s.queues, winner_sink<Element>(a, row, r, plan.winners),
                              tie_sink<Element>(a, row, r, plan));
    if (state.is_buffered == 0) {
        filter_row<Element, false>(source, share, range, queues);
    } else {
        TOPK_REACHED(REACHED_AIR_LAST_FROM_BUFFER);
        filter_candidates(buffer_of<Element>(a, row), (int64_t)state.buffered, share, range, queues);
    }
}

/* The same in a pass, once it is known that no digit is missing. Returns false if that is left to the last
 * filter, as what goes in the order of positions. */
template <typename Element, typename Source>
TOPK_DEVICE bool write_decided(const struct air_args &a, int64_t row, const struct row &r,
                               const Source &source, struct share share, const struct air_state &state,
                               const block_shared<Element> &s) {
    const struct result_plan plan = plan_shared_results(a, state, r);
    if (plan.in_order || a.target.kind == TARGET_KTH)
        return false;
    write_in_any_order(a, row, r, source, share, state, plan, s);
    return true;
}

/* All blocks are done with the row. All threads of the last one. */
TOPK_DEVICE void end_row(struct air_state *state) {
    if (simt_thread() == 0) {
        state->phase = AIR_DONE;
        simt_store_relaxed(&state->retired, 0u);
    }
}

#endif
