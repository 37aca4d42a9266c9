/* SPDX-License-Identifier: Apache-2.0
 * The end of a shared row whose candidates fit one block: the last block to have buffered them does the rest,
 * with the candidates in its shared memory. */
#ifndef TOPK_SRC_CUDA_AIR_FINISH_CUH
#define TOPK_SRC_CUDA_AIR_FINISH_CUH

#include "results.cuh"

/* Finds the digits that are missing and writes the results, unless they have to go in the order of positions:
 * the last filter does that. All threads. */
template <typename Element, bool WHERE> TOPK_DEVICE void finish_row(const divided_row<Element, WHERE> &w) {
    const struct air_args &a = w.a;
    const block_shared<Element> &s = w.s;
    struct air_state *state = w.counters();
    struct kth_range range = w.state.range;
    const uint32_t count = (uint32_t)range.candidates;
    const global_list<Element> buffer = w.buffer();
    for (uint32_t i = simt_thread(); i < count; i += simt_threads()) {
        s.candidates.elements[i] = buffer.bits(i);
        s.candidates.positions[i] = ((const uint32_t *)a.candidates.positions)[buffer.first + i];
    }
    narrow_candidates<SELECT_BINS_MAX / AIR_THREADS>(
        s.candidates, count, a.rows.map, a.digits, a.digit.shift + simt_popc(a.digit.mask), s.digit, &range);
    simt_block_sync();
    const struct result_plan plan = plan_results(a.target, range, w.r.k);
    TOPK_REACHED(plan.in_order ? REACHED_AIR_FINISH_LEFT : REACHED_AIR_FINISH);
    if (simt_thread() == 0) {
        state->range = range;
        state->phase = plan.in_order ? AIR_DECIDED : AIR_DONE;
        simt_store_relaxed(&state->retired, 0u);
        if (a.target.kind == TARGET_KTH)
            write_kth_class<Element>(a, w.row, range, w.r.k);
    }
    if (plan.in_order || a.target.kind == TARGET_KTH)
        return;
    hit_sinks sinks = {w.winner_sink(plan.winners), w.tie_sink(plan)};
    filter_candidates(s.candidates, count, for_one_block(), code_range_of<Element>(a.rows.map, range), sinks);
}

#endif
