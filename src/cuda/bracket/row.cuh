/* SPDX-License-Identifier: Apache-2.0
 * The kernel: a row for several blocks, which wait for each other, or rows for each block. */
#ifndef TOPK_SRC_CUDA_BRACKET_ROW_CUH
#define TOPK_SRC_CUDA_BRACKET_ROW_CUH

#include "way_out.cuh"

/* What a row begins with. All threads. */
template <typename Element> TOPK_DEVICE void clear_block(const bracket_memory<Element> &m) {
    clear_quads(m);
    if (simt_thread() == 0) {
        m.listed[0] = 0;
        m.ties[0] = 0;
    }
}

/* Begins what the blocks of a row share. All threads of all blocks. */
template <typename Element> TOPK_DEVICE struct team_turn begin_team(const bracket_task<Element> &t) {
    struct team_turn turn = {};
    if (t.is_alone())
        return turn;
    if (t.leads())
        clear_state(t);
    turn.start = simt_grid_arrive();
    return turn;
}

/* Writes the results of a row; returns how many these are. All threads of all blocks that share it. */
template <typename Element>
TOPK_DEVICE uint32_t select_row(const bracket_task<Element> &t, struct ring_turns *turns) {
    uint32_t k = (uint32_t)t.r.k;
    chunk_reader<Element> chunks = chunk_reader<Element>::of(t);
    const sampled_groups<Element> sample = draw_sample(t);
    chunks.issue(turns);
    clear_block(t.m);
    struct team_turn turn = begin_team(t);
    row_threshold<Element> threshold = threshold_of(t, sample, [&] {
        for (uint32_t i = 1; i < BRACKET_SLOTS; i++)
            chunks.issue(turns);
    });
    uint32_t found;
    enum bracket_outcome outcome;
    for (uint32_t reads = 1;; reads++) {
        const key_word_t<Element> before = threshold.key;
        found = stream_row(t, &chunks, turns, threshold);
        outcome = emit(t, &threshold, found, turns, &turn, &k);
        if (outcome != BRACKET_SHORT || threshold.key == before || reads == BRACKET_READS)
            break;
        TOPK_REACHED(REACHED_BRACKET_GPU_AGAIN);
        chunks = chunk_reader<Element>::of(t);
        for (uint32_t i = 0; i < BRACKET_SLOTS; i++)
            chunks.issue(turns);
        clear_block(t.m);
        simt_block_sync();
    }
    if (outcome != BRACKET_DONE)
        k = select_by_way_out<Element>(t.a, t.row, turn.meetings);
    return k;
}

/* Fills what is behind a row's k results. All threads of all blocks that share it. */
template <typename Element> TOPK_DEVICE void pad(const bracket_task<Element> &t, uint32_t k) {
    struct row r = t.r;
    r.k = k;
    if (t.a.target.kind != TARGET_KTH)
        pad_row<Element>(t.a.rows, t.row, r, t.share);
}

/* Rows that blocks share are one for each of their teams. */
template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(BRACKET_THREADS, 1) void bracket_select(TOPK_CONSTANT_ARGS struct bracket_args a) {
    const uint32_t first = simt_block() / a.blocks_of_row, step = simt_blocks() / a.blocks_of_row;
    struct ring_turns turns = {0, 0};
    if (is_called_off(a.rows))
        return;
    for (int64_t row = first; row < a.rows.rows; row += step) {
        const bracket_task<Element> t = task_of<Element>(a, row);
        if (row == first)
            make_rings(t.m);
        else
            TOPK_REACHED(REACHED_BRACKET_GPU_NEXT_ROW);
        const bool exists = t.exists();
        if (!exists && t.leads())
            finish_empty_row(t);
        const uint32_t k = exists ? select_row(t, &turns) : 0;
        if (!exists && !t.is_alone())
            simt_grid_wait(begin_team(t).start);
        pad(t, k);
        simt_fence_bulk(); /* what has been put into the ring comes before the next row's copies */
        simt_block_sync();
    }
}

#endif
