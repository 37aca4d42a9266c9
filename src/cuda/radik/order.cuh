/* SPDX-License-Identifier: Apache-2.0
 * Results that go in the order of positions: the blocks of a row draw its tiles. */
#ifndef TOPK_SRC_CUDA_RADIK_ORDER_CUH
#define TOPK_SRC_CUDA_RADIK_ORDER_CUH

#include "../select/ordered_lookback.cuh"
#include "state.cuh"

/* The range of keys as one of codes that are cut. */
template <typename Element, bool WHERE>
TOPK_DEVICE code_range<Element> codes_of(const part_task<Element, WHERE> &t) {
    typedef key_word_t<Element> word;
    const struct code_map &map = t.a.rows.map;
    const word low = class_first<Element>((word)t.known.low, map);
    const bool is_zero = t.known.high == map.zeros && t.known.high % 2 == 0; /* odd: there are none */
    return code_range<Element>{map, low, (word)(t.known.high - is_zero - low)};
}

template <typename Element, bool WHERE>
TOPK_KERNEL TOPK_BOUNDS(RADIK_THREADS, RADIK_BLOCKS_PER_SM) void radik_order(struct radik_args a) {
    simt_arena arena = simt_shared_arena();
    const struct pass_memory m = carve_pass(arena, 0);
    for_tasks<Element, WHERE, TOPK_PATH(REACHED_RADIK_ORDER_NEXT_ROW)>(
        a, m, false, [&](const part_task<Element, WHERE> &t, uint64_t phase) TOPK_LAMBDA {
            const struct result_plan plan = plan_results(a.target, t.known, t.r.k);
            const struct task_row &of = t.part.of;
            if (phase != RADIK_ORDERED)
                return;
            TOPK_REACHED(REACHED_RADIK_IN_ORDER);
            if (WHERE && a.target.kind == TARGET_OUTPUTS) /* fewer results than the first pass knew of */
                pad_row<Element>(a.rows, of.row, t.r, t.part.share);
            const int64_t words_of_sum = (RADIK_WORDS_OF_TILE * of.tiles + RADIK_WORDS_OF_ROW) / 2;
            uint64_t *words =
                a.lookback + RADIK_WORDS_OF_TILE * of.first_tile + RADIK_WORDS_OF_ROW * of.state;
            const struct lookback_args lookback = {of.tiles + 2, words_of_sum, words};
            lookback_prefixes prefixes = {
                {plan.winners, t.known.need}, m.scratch, m.bases, lookback, 0, &t.state()->next,
                &t.state()->finished};
            const row_target<Element> target = {a.rows, a.target, of.row, t.r, of.state};
            filter_row_in_order(t.source, codes_of(t), prefixes, target);
        });
}

#endif
