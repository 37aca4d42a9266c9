/* SPDX-License-Identifier: Apache-2.0
 * The passes after the first filter by the digits known so far.
 *
 * Results are not written while the input has to be read again. Once so few candidates remain that they fit
 * their buffer, one more pass over the input writes what is above them and buffers them; from then on the
 * buffer takes the input's place. If the candidates even fit one block, the last block of that pass does the
 * rest (finish.cuh), and the launches after it find nothing to do. */
#ifndef TOPK_SRC_CUDA_AIR_NEXT_CUH
#define TOPK_SRC_CUDA_AIR_NEXT_CUH

#include "finish.cuh"

/* Writes the row's winners and sends its candidates to the buffer. */
template <typename Element, bool WHERE, typename Candidates>
TOPK_DEVICE void buffer_candidates(const divided_row<Element, WHERE> &w, const Candidates &candidates) {
    auto queues = queues_over(w.s.queues, w.winner_sink((uint64_t)w.r.k - w.state.range.need), candidates);
    filter_row<Element, false>(w.source, among_all_blocks(), w.range(), queues);
}

/* Counts the next digit of the row's candidates; returns whether this block was the last to do so. `buffers`:
 * and sends them to the buffer. All threads. */
template <typename Element, bool WHERE, typename Buffer>
TOPK_DEVICE bool count_next(const divided_row<Element, WHERE> &w, bool buffers, const Buffer &buffer) {
    const struct digit_counter counter = {row_digit(w.a, w.state.range), w.s.digit.bins};
    simt_block_sync(); /* the bins are clear */
    if (w.state.is_buffered != 0) {
        TOPK_REACHED(REACHED_AIR_FROM_BUFFER);
        count_candidates(w.buffer(), (int64_t)w.state.buffered, among_all_blocks(), w.range(), counter);
    } else if (buffers) {
        TOPK_REACHED(REACHED_AIR_BUFFERED);
        buffer_candidates(w, counting_sink<Buffer>{buffer, w.a.rows.map, counter});
    } else {
        TOPK_REACHED(REACHED_AIR_NO_BUFFER);
        count_row<Element, false, false>(w.source, among_all_blocks(), w.range(), counter);
    }
    return retire<false>(w.a, w.row, buffers, w.s);
}

/* What a pass does with a row; returns whether this block was the last to count a digit of it. */
template <typename Element, bool WHERE>
TOPK_DEVICE bool next_pass(const struct air_args &a, int64_t row, const matcher<Element, WHERE> &predicate,
                           const block_shared<Element> &s) {
    const struct air_state state = read_state(&a.states[row]);
    if (state.phase == AIR_DONE)
        return false;
    const struct row r = counted_row<WHERE>(a, row);
    const divided_row<Element, WHERE> w = {a, s, row, r, source_of(a.rows, r, predicate), state};
    if (state.phase == AIR_DECIDED) {
        if (!write_decided(w, among_all_blocks())) {
            TOPK_REACHED(REACHED_AIR_DECIDED_LEFT);
        } else if (last_of_blocks(&w.counters()->retired, s.flag)) {
            TOPK_REACHED(REACHED_AIR_DECIDED);
            end_row(w.counters());
        }
        return false;
    }
    const candidate_sink buffer = {w.buffer(), &w.counters()->buffered};
    bool buffers =
        state.is_buffered == 0 && state.range.candidates <= (uint64_t)a.capacity && !a.target.in_order;
    if (!buffers || state.range.candidates > a.block_candidates)
        return count_next(w, buffers, buffer);
    buffer_candidates(w, buffer);
    if (last_of_blocks(&w.counters()->retired, s.flag)) {
        finish_row(w);
        simt_block_sync();
        clear_bins(s.digit.bins, 1u << a.digits.bits);
    }
    return false;
}

/* The block's shared memory, with clear bins. */
template <typename Element> TOPK_DEVICE block_shared<Element> begin_next(const struct air_args &a) {
    simt_arena arena = simt_shared_arena();
    block_shared<Element> s = carve_block<Element>(arena, AIR_THREADS / SIMT_WARP, a.block_candidates);
    clear_bins(s.digit.bins, a.digit.mask + 1);
    return s;
}

template <typename Element, bool WHERE>
TOPK_KERNEL TOPK_BOUNDS(AIR_THREADS, AIR_BLOCKS_PER_SM) void air_next(struct air_args a) {
    const block_shared<Element> s = begin_next<Element>(a);
    for_shared_rows<Element, WHERE, TOPK_PATH(REACHED_AIR_NEXT_ROW)>(
        a, [&](int64_t row, const matcher<Element, WHERE> &predicate)
               TOPK_LAMBDA { (void)next_pass(a, row, predicate, s); });
}

#endif
