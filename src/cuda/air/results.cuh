/* SPDX-License-Identifier: Apache-2.0
 * Writing the results of a row whose digits are known, in any order. */
#ifndef TOPK_SRC_CUDA_AIR_RESULTS_CUH
#define TOPK_SRC_CUDA_AIR_RESULTS_CUH

#include "state.cuh"

/* plan_results() for a row that blocks share. Ties that may be any are found in order, too, where that reads
 * less of the input: if all results tie, many more elements do than are needed, but so few that a warp would
 * read long until it had 32 to write. */
template <typename Row> TOPK_DEVICE struct result_plan plan_shared_results(const Row &w) {
    const struct kth_range &range = w.state.range;
    struct result_plan plan = plan_results(w.a.target, range, w.r.k);
    bool rare = range.candidates < (uint64_t)w.r.length / AIR_RARE_TIES;
    bool early = w.state.is_buffered == 0 && plan.winners == 0 && range.candidates / 4 > range.need;
    bool is_long = w.a.lookback.tiles > (int64_t)AIR_LONG_FILTER * simt_blocks();
    if (w.a.target.ties_free && is_long && early && rare) {
        TOPK_REACHED(REACHED_AIR_RARE_TIES);
        plan.in_order = true;
    }
    return plan;
}

/* Writes the block's share of the results. */
template <typename Element, bool WHERE>
TOPK_DEVICE void write_in_any_order(const divided_row<Element, WHERE> &w, struct share share,
                                    const struct result_plan &plan) {
    auto queues = queues_over(w.s.queues, w.winner_sink(plan.winners), w.tie_sink(plan));
    if (w.state.is_buffered == 0) {
        filter_row<Element, false>(w.source, share, w.range(), queues);
    } else {
        TOPK_REACHED(REACHED_AIR_LAST_FROM_BUFFER);
        filter_candidates(w.buffer(), (int64_t)w.state.buffered, share, w.range(), queues);
    }
}

/* The same in a pass, once it is known that no digit is missing. Returns false if the last filter has to do
 * it, in the order of positions. */
template <typename Row> TOPK_DEVICE bool write_decided(const Row &w, struct share share) {
    const struct result_plan plan = plan_shared_results(w);
    if (plan.in_order || w.a.target.kind == TARGET_KTH)
        return false;
    write_in_any_order(w, share, plan);
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
