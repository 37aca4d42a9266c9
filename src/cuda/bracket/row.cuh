/* SPDX-License-Identifier: Apache-2.0
 * The kernel: a row for several blocks, which wait for each other, or rows for each block. */
#ifndef TOPK_SRC_CUDA_BRACKET_ROW_CUH
#define TOPK_SRC_CUDA_BRACKET_ROW_CUH

#include "between.cuh"
#include "uneven.cuh"
#include "way_out.cuh"

/* Lists what of a row may be a result, and clears up what is known of it then. All threads of all blocks that
 * share it. */
template <typename Element, typename Shape>
TOPK_DEVICE enum bracket_outcome list_row(const bracket_task<Element, Shape> &t, struct ring_turns *turns,
                                          struct team_turn *turn, uint32_t *k,
                                          listed_row_results<Element> *lists) {
    chunk_reader<Element, Shape> chunks = chunk_reader<Element, Shape>::of(t);
    const sampled_groups<Element> sample = draw_sample(t);
    chunks.issue(turns);
    clear_block(t.m);
    const simt_grid_arrival begun = begin_team(t);
    row_threshold<Element> threshold = threshold_of(t, sample, [&] {
        for (uint32_t i = 1; i < Shape::SLOTS; i++)
            chunks.issue(turns);
    });
    for (uint32_t reads = 1;; reads++) {
        const uint32_t found = stream_row(t, &chunks, turns, threshold, [&] {
            if (!t.arrives() || reads > 1)
                simt_block_sync();
            else
                await_team(t, begun);
        });
        const enum bracket_outcome outcome = judge(t, &threshold, found, turns, turn, k, lists);
        if (outcome != BRACKET_SHORT || reads == BRACKET_READS)
            return outcome;
        TOPK_REACHED(REACHED_BRACKET_GPU_AGAIN);
        chunks = chunk_reader<Element, Shape>::of(t);
        for (uint32_t i = 0; i < Shape::SLOTS; i++)
            chunks.issue(turns);
        clear_block(t.m);
        simt_block_sync();
    }
}

/* Writes the results of a row; returns how many these are. All threads of all blocks that share it. */
template <typename Element, typename Shape>
TOPK_DEVICE uint32_t select_row(const bracket_task<Element, Shape> &t, struct ring_turns *turns) {
    uint32_t k = (uint32_t)t.r.k;
    struct team_turn turn = {};
    listed_row_results<Element> lists = {};
    enum bracket_outcome outcome;
    if (t.a.is_pair) {
        const struct pair_outcome found = search_between<Element, Shape>(t.a, t.row, *turns);
        *turns = found.turns;
        turn.meetings = found.meetings;
        outcome = found.outcome;
        if (outcome == BRACKET_LISTED) {
            lists = listed_row_results<Element>{kth_bin<Element>::kept(t.m.bin), found.listed, k};
            simt_block_sync(); /* it may be kept once more */
        }
    } else {
        outcome = list_row(t, turns, &turn, &k, &lists);
    }
    if (outcome == BRACKET_DONE)
        return k;
    struct row_rest rest;
    if (outcome == BRACKET_LISTED) {
        rest = emit_candidates(t, lists.listed, lists.bin, &turn, lists.results);
    } else {
        rest = select_by_way_out<Element, Shape>(t.a, t.row, turn.meetings);
        k = rest.k;
    }
    if (gathers(t, rest.count))
        finish_row(t, rest);
    return k;
}

/* A row without results. All threads of all blocks that share it. */
template <typename Element, typename Shape>
TOPK_NOINLINE uint32_t select_nothing(const struct bracket_args &a, int64_t row) {
    const bracket_task<Element, Shape> t = task_of<Element, Shape>(a, row);
    if (t.leads() && t.a.target.kind == TARGET_KTH && simt_thread() == 0)
        write_kth<Element>(t.a.kth, t.row, t.a.rows.padding, t.r.wanted == 0 ? 0 : t.r.length, 0);
    await_team(t, begin_team(t));
    return 0;
}

/* Fills what is behind a row's k results. All threads of all blocks that share it. */
template <typename Element, typename Shape>
TOPK_DEVICE void pad(const bracket_task<Element, Shape> &t, uint32_t k) {
    struct row r = t.r;
    r.k = k;
    if (t.a.target.kind != TARGET_KTH)
        pad_row<Element>(t.a.rows, t.row, r, t.share);
}

/* Rows that blocks share are one for each of their teams. All threads of all blocks. */
template <typename Element, typename Shape> TOPK_DEVICE void select_rows(const struct bracket_args &a) {
    uint32_t first = row_of_block(a);
    const int64_t step = a.blocks_of_row == 1 ? simt_blocks() : a.rows.rows;
    struct ring_turns turns = {0, 0};
    if (a.has_successor)
        simt_allow_successor();
    if (is_called_off(a.rows))
        return;
    if (a.by_length)
        first = find_team<Element, Shape>(a);
    if (a.predicate.is_given)
        keep_match<Element, Shape>(a);
    for (int64_t row = first; row < a.rows.rows; row += step) {
        const bracket_task<Element, Shape> t = task_of<Element, Shape>(a, row);
        if (row == first)
            t.m.rings.make();
        else
            TOPK_REACHED(REACHED_BRACKET_GPU_NEXT_ROW);
        pad(t, t.exists() ? select_row(t, &turns) : select_nothing<Element, Shape>(a, row));
        if (row + step >= a.rows.rows)
            break;
        simt_fence_bulk(); /* what has been put into the ring comes before the next row's copies */
        simt_block_sync();
    }
}

/* Without a body where an architecture has no kernels of the shape. */
template <typename Element, typename Shape>
TOPK_KERNEL TOPK_BOUNDS(BRACKET_THREADS, 1) void bracket_select(TOPK_CONSTANT_ARGS struct bracket_args a) {
    if constexpr (is_compiled<Shape>())
        select_rows<Element, Shape>(a);
}

#endif
