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
template <typename Element, typename Source, typename Candidates>
TOPK_DEVICE void buffer_candidates(const struct air_args &a, int64_t row, const struct row &r,
                                   const Source &source, const struct kth_range &range,
                                   const Candidates &candidates, const block_shared<Element> &s) {
    auto queues =
        queues_over(s.queues, winner_sink<Element>(a, row, r, (uint64_t)r.k - range.need), candidates);
    filter_row<Element, false>(source, among_all_blocks(), code_range_of<Element>(a.rows.map, range), queues);
}

/* Where candidates go. */
template <typename Element>
TOPK_DEVICE candidate_sink<global_list<Element>, struct global_slots> buffer_sink(const struct air_args &a,
                                                                                  int64_t row) {
    return {buffer_of<Element>(a, row), global_slots{&a.states[row].buffered}};
}

/* Counts the next digit of the row's candidates; returns whether this block was the last to do so. All
 * threads. */
template <typename Element, typename Source>
TOPK_DEVICE bool count_next(const struct air_args &a, int64_t row, const struct row &r, const Source &source,
                            const struct air_state &state, bool buffers, const block_shared<Element> &s) {
    const code_range<Element> range = code_range_of<Element>(a.rows.map, state.range);
    const struct digit_counter counter = {a.digit, s.digit.bins};
    simt_block_sync(); /* the bins are clear */
    if (state.is_buffered != 0) {
        TOPK_REACHED(REACHED_AIR_FROM_BUFFER);
        count_candidates(buffer_of<Element>(a, row), (int64_t)state.buffered, among_all_blocks(), range,
                         counter);
    } else if (buffers) {
        TOPK_REACHED(REACHED_AIR_BUFFERED);
        buffer_candidates(a, row, r, source, state.range,
                          counting_sink<global_list<Element>, struct global_slots>{
                              buffer_sink<Element>(a, row), a.rows.map, counter},
                          s);
    } else {
        TOPK_REACHED(REACHED_AIR_NO_BUFFER);
        count_row<Element, false, false>(source, among_all_blocks(), range, counter);
    }
    return retire<false>(a, row, buffers, s);
}

/* What a pass does with a row; returns whether this block was the last to count a digit of it. */
template <typename Element, bool WHERE>
TOPK_DEVICE bool next_pass(const struct air_args &a, int64_t row, const matcher<Element, WHERE> &predicate,
                           const block_shared<Element> &s) {
    const struct air_state state = read_state(&a.states[row]);
    if (state.phase == AIR_DONE)
        return false;
    const struct row r = counted_row<WHERE>(a, row);
    const row_source<Element, WHERE> source = source_of(a.rows, r, predicate);
    if (state.phase == AIR_DECIDED) {
        if (!write_decided(a, row, r, source, among_all_blocks(), state, s)) {
            TOPK_REACHED(REACHED_AIR_DECIDED_LEFT);
        } else if (last_of_blocks(&a.states[row].retired, s.flag)) {
            TOPK_REACHED(REACHED_AIR_DECIDED);
            end_row(&a.states[row]);
        }
        return false;
    }
    bool buffers = state.is_buffered == 0 && state.range.candidates <= (uint64_t)a.capacity &&
                   a.target.kind != TARGET_LIST;
    if (buffers && state.range.candidates <= a.block_candidates) {
        buffer_candidates(a, row, r, source, state.range, buffer_sink<Element>(a, row), s);
        if (last_of_blocks(&a.states[row].retired, s.flag)) {
            finish_row(a, row, r, state.range, s);
            simt_block_sync();
            clear_bins(s.digit.bins, 1u << a.digits.bits);
        }
        return false;
    }
    return count_next(a, row, r, source, state, buffers, s);
}

/* What such a kernel does before it touches global memory. */
template <typename Element> TOPK_DEVICE block_shared<Element> begin_next(const struct air_args &a) {
    simt_arena arena = simt_shared_arena();
    block_shared<Element> s = carve_block<Element>(arena, AIR_THREADS / SIMT_WARP, a.block_candidates);
    clear_bins(s.digit.bins, a.digit.mask + 1);
    simt_wait_predecessor();
    if (a.has_successor)
        simt_allow_successor();
    return s;
}

template <typename Element, bool WHERE>
TOPK_KERNEL TOPK_BOUNDS(AIR_THREADS, AIR_BLOCKS_PER_SM) void air_next(struct air_args a) {
    const block_shared<Element> s = begin_next<Element>(a);
    if (is_called_off(a.rows))
        return;
    const matcher<Element, WHERE> predicate = matcher<Element, WHERE>::of(a.predicate);
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        if (row != simt_block_y())
            TOPK_REACHED(REACHED_AIR_NEXT_ROW);
        (void)next_pass(a, row, predicate, s);
        simt_block_sync();
    }
}

#endif
