/* SPDX-License-Identifier: Apache-2.0
 * What the kernels of air share: the state of a row, the shared memory of a block, what topk_kth writes. */
#ifndef TOPK_SRC_CUDA_AIR_STATE_CUH
#define TOPK_SRC_CUDA_AIR_STATE_CUH

#include "../../reached.h"
#include "../select/candidates.cuh"
#include "../select/queued_filter.cuh"
#include "../select/target.cuh"
#include "kernels.h"

/* Shared memory of a block. */
template <typename Element> struct block_shared {
    struct digit_shared digit;
    simt_shared<uint32_t> scratch;  /* of scans */
    simt_shared<uint64_t> bases;    /* of the ordered filter */
    simt_shared<uint64_t> counters; /* slots taken in a row of one block: enum slot_counter; atomic */
    simt_shared<uint32_t> flag;
    queues_memory<Element> queues; /* if it has any */
    shared_list<Element> candidates;
};

enum slot_counter { WINNER_SLOTS, CANDIDATE_SLOTS, TIE_SLOTS, SLOT_COUNTERS };

template <typename Element>
TOPK_HOST_DEVICE block_shared<Element> carve_block(simt_arena &arena, uint32_t queues, uint32_t candidates) {
    block_shared<Element> s;
    s.bases = simt_carve<uint64_t>(arena, 2);
    s.counters = simt_carve<uint64_t>(arena, SLOT_COUNTERS);
    s.queues = carve_queues<Element>(arena, queues);
    s.candidates = carve_list<Element>(arena, candidates);
    s.digit = carve_digit(arena);
    s.scratch = simt_carve<uint32_t>(arena, SIMT_WARP);
    s.flag = simt_carve<uint32_t>(arena, 1);
    return s;
}

/* A row as launches after the first find it: with no more results than matches. */
template <bool WHERE = true> TOPK_DEVICE struct row counted_row(const struct air_args &a, int64_t row) {
    struct row r = row_at(a.rows, row);
    if (WHERE && a.matches != nullptr)
        r.k = r.k < a.matches[row] ? r.k : a.matches[row];
    return r;
}

/* A row's state as the launch finds it. Counters that the launch may change are not among it: `buffered` is
 * read once the buffer is full. */
TOPK_DEVICE struct air_state read_state(const struct air_state *from) {
    struct air_state state = {};
    state.range = from->range;
    state.phase = from->phase;
    state.is_buffered = from->is_buffered;
    if (state.is_buffered != 0)
        state.buffered = from->buffered;
    return state;
}

/* A row that blocks share, in a launch. */
template <typename Element, bool WHERE> struct divided_row {
    const struct air_args &a;
    const block_shared<Element> &s;
    int64_t row;
    const struct row &r;
    row_source<Element, WHERE> source;
    struct air_state state; /* as the launch finds it */

    TOPK_MEMBER struct air_state *counters(void) const {
        return &a.states[row];
    }
    TOPK_MEMBER code_range<Element> range(void) const {
        return code_range_of<Element>(a.rows.map, state.range);
    }
    TOPK_MEMBER global_list<Element> buffer(void) const {
        return global_list<Element>{a.candidates, row * a.capacity};
    }
    TOPK_MEMBER row_target<Element> target(void) const {
        return row_target<Element>{a.rows, a.target, row, r, row};
    }
    /* Where winners go, and ties. */
    TOPK_MEMBER auto winner_sink(uint64_t winners) const {
        const bool is_written = a.target.kind != TARGET_KTH;
        return result_sink{target(), &counters()->winners, (uint64_t)0, is_written ? winners : 0};
    }
    TOPK_MEMBER auto tie_sink(const struct result_plan &plan) const {
        return result_sink{target(), &counters()->ties, plan.winners, plan.ties};
    }
};

/* What a kernel does with rows that blocks share: calls work(row, predicate). Before, it may have touched
 * only shared memory. NEXT_ROW: the path that counts further rows of a block. */
template <typename Element, bool WHERE, int NEXT_ROW, typename Work>
TOPK_DEVICE void for_shared_rows(const struct air_args &a, const Work &work) {
    simt_wait_predecessor();
    if (a.has_successor)
        simt_allow_successor();
    if (is_called_off(a.rows))
        return;
    const matcher<Element, WHERE> predicate = matcher<Element, WHERE>::of(a.predicate);
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        if (row != simt_block_y())
            TOPK_REACHED(NEXT_ROW);
        work(row, predicate);
        simt_block_sync();
    }
}

/* Code range.low stands for the k-th class. One thread. */
template <typename Element>
TOPK_DEVICE void write_kth_class(const struct air_args &a, int64_t row, const struct kth_range &range,
                                 int64_t k) {
    write_kth<Element>(a.kth, row, decode_key(a.decode, range.low), k - (int64_t)range.need,
                       (int64_t)range.candidates);
}

/* k is 0 or beyond the elements that count. One thread. */
template <typename Element>
TOPK_DEVICE void write_kth_padding(const struct air_args &a, int64_t row, const struct row &r,
                                   int64_t counted) {
    write_kth<Element>(a.kth, row, a.rows.padding, r.wanted == 0 ? 0 : counted, 0);
}

/* The digit of this pass for a row whose range the launch has found. */
TOPK_DEVICE struct digit row_digit(const struct air_args &a, const struct kth_range &range) {
    return a.by_extent ? digit_of_range(a.digits.bits, range) : a.digit;
}

/* Adds the block's histogram to the row's, and leaves its own clear. The last block finds the digit, writes
 * the narrower range and leaves the row's histogram clear, too. Returns whether this is that block.
 * `buffers`: this pass has filled the candidate buffer. WHERE: after the first pass, in which some
 * elements may not count. All threads. */
template <bool WHERE, typename Element>
TOPK_DEVICE bool retire(const struct air_args &a, int64_t row, bool buffers, const block_shared<Element> &s) {
    const uint32_t count = a.digit.mask + 1;
    uint64_t *bins = a.histograms + (row << a.digits.bits);
    struct air_state *state = &a.states[row];
    simt_block_sync();
    move_bins(s.digit.bins, count, bins);
    if (!last_of_blocks(&state->retired, s.flag))
        return false;
    const struct kth_range before = state->range;
    const struct digit digit = row_digit(a, before);
    const auto narrow_row = [&](struct kth_range range) TOPK_LAMBDA {
        if (range.high - range.low > before.high - range.low) /* the last part ends with the range */
            range.high = before.high;
        state->range = range;
        if (buffers)
            state->is_buffered = 1;
        if (!is_decided(a.digits, range, digit.shift))
            return;
        state->phase = AIR_DECIDED;
        if (a.target.kind == TARGET_KTH)
            write_kth_class<Element>(a, row, range, row_at(a.rows, row).k);
    };
    uint64_t total =
        find_digit<SELECT_BINS_MAX / AIR_THREADS, WHERE>([&](uint32_t bin) TOPK_LAMBDA { return bins[bin]; },
                                                         a.rows.map, digit, before, s.digit.sums, narrow_row);
    bool is_kth = WHERE && a.target.kind == TARGET_KTH;
    if (is_kth)
        simt_block_sync(); /* behind the thread that narrowed the row */
    if (WHERE && simt_thread() == 0) {
        a.matches[row] = (int64_t)total;
        if (total == 0)
            state->phase = AIR_DONE;
    }
    if (is_kth && simt_thread() == 0) {
        const struct row r = row_at(a.rows, row);
        if (total < (uint64_t)r.wanted) {
            state->phase = AIR_DONE;
            write_kth_padding<Element>(a, row, r, (int64_t)total);
        }
    }
    simt_block_sync();
    for (uint32_t bin = simt_thread(); bin < count; bin += simt_threads())
        bins[bin] = 0;
    if (simt_thread() == 0)
        simt_store_relaxed(&state->retired, 0u);
    return true;
}

#endif
