/* SPDX-License-Identifier: Apache-2.0
 * The passes: the first sees every element, the following ones filter by the digits known so far.
 *
 * Results are not written while the input has to be read again. Once so few candidates remain that they fit
 * their buffer, one more pass over the input writes what is above them and buffers them; from then on the
 * buffer takes the input's place. If the candidates even fit one block, the last block of that pass does the
 * rest (resident.cuh), and the launches after it find nothing to do. */
#ifndef TOPK_SRC_CUDA_AIR_PASS_CUH
#define TOPK_SRC_CUDA_AIR_PASS_CUH

#include "resident.cuh"

/* A row's state as the launch finds it. Counters that the launch may change are not among it: `buffered` is
 * read once the buffer is full. */
TOPK_DEVICE struct air_state read_state(const struct air_state *from) {
    struct air_state state = {};
    state.low = from->low;
    state.high = from->high;
    state.need = from->need;
    state.candidates = from->candidates;
    state.phase = from->phase;
    state.left = from->left;
    if (state.left != 0)
        state.buffered = from->buffered;
    return state;
}

struct global_bins {
    const uint64_t *bins;

    TOPK_MEMBER uint64_t count(uint32_t bin) const {
        return bins[bin];
    }
};

/* What the last block does once it knows the digit. */
template <typename Element> struct narrow_row {
    const struct air_args &a;
    int64_t row;
    bool leaves; /* this pass has filled the candidate buffer */

    TOPK_MEMBER void found(struct found_digit f) const {
        struct air_state *state = &a.states[row];
        uint64_t low = state->low + ((uint64_t)f.digit << a.shift);
        uint64_t need = f.need - f.better;
        state->low = low;
        state->high = low + (((uint64_t)(1 + f.more) << a.shift) - 1);
        state->need = need;
        state->candidates = f.equal;
        if (leaves)
            state->left = 1;
        if (a.shift == 0 || (a.stop_early && need == f.equal))
            state->phase = AIR_DECIDED;
        if (a.output == AIR_KTH && a.shift == 0) {
            struct row r = row_at(a.rows, row);
            write_kth<Element>(a, row, low, r.k - (int64_t)need, (int64_t)f.equal);
        }
    }
};

/* Adds the block's histogram to the row's, and leaves its own clear; the last block finds the digit and
 * leaves the row's clear, too. Returns whether this is that block. WHERE: after the first pass of a row of
 * which not all elements count. */
template <bool WHERE, typename Element>
TOPK_DEVICE bool retire(const struct air_args &a, int64_t row, bool leaves, const block_shared<Element> &s) {
    uint32_t count = 1u << a.this_digit;
    uint64_t *bins = a.histograms + (row << a.digit_bits);
    simt_block_sync();
    for (uint32_t bin = simt_thread(); bin < count; bin += simt_threads()) {
        uint32_t here = s.bins[bin];
        if (here != 0) {
            simt_atomic_add(&bins[bin], (uint64_t)here);
            s.bins[bin] = 0;
        }
    }
    struct air_state *state = &a.states[row];
    if (!last_of_blocks(&state->retired, s.flag))
        return false;
    uint32_t zeros = bin_of_zeros(a.rows.map, state->low, digit_of(a));
    uint64_t total = find_digit<AIR_BINS_MAX / AIR_THREADS, WHERE>(
        global_bins{bins}, count, zeros, state->need, s.sums, narrow_row<Element>{a, row, leaves});
    if (WHERE && simt_thread() == 0) {
        a.matches[row] = (int64_t)total;
        if (total == 0)
            state->phase = AIR_DONE;
    }
    simt_block_sync();
    for (uint32_t bin = simt_thread(); bin < count; bin += simt_threads())
        bins[bin] = 0;
    if (simt_thread() == 0)
        simt_store_relaxed(&state->retired, 0u);
    return true;
}

/* ---- The first pass ---- */

/* A multiprocessor of sm_75 has 1024 threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
static const int FIRST_BLOCKS = 2;
#else
static const int FIRST_BLOCKS = AIR_FIRST_BLOCKS_PER_SM;
#endif

/* Every row begins with all of its elements as candidates. WHERE: even if not all count. */
template <typename Element, bool WHERE>
TOPK_DEVICE struct air_state begin_row(const struct air_args &a, int64_t row, const struct row &r) {
    struct air_state state = {};
    bool beyond = a.output == AIR_KTH && r.wanted > r.length; /* the k-th is padding */
    state.high = all_codes(8 * sizeof(Element));
    state.need = (uint64_t)r.k;
    state.candidates = (uint64_t)r.length;
    bool all = !WHERE && a.stop_early && r.k == r.length;
    state.phase = r.k == 0 || beyond ? AIR_DONE : all ? AIR_DECIDED : AIR_OPEN;
    if (simt_block() == 0 && simt_thread() == 0) {
        struct air_state *to = &a.states[row];
        to->low = state.low;
        to->high = state.high;
        to->need = state.need;
        to->candidates = state.candidates;
        to->phase = state.phase;
        if (a.output == AIR_KTH && state.phase == AIR_DONE)
            write_kth_padding<Element>(a, row, r);
    }
    return state;
}

template <typename Element, bool WHERE>
TOPK_DEVICE void first_pass(const struct air_args &a, int64_t row, const matcher<Element, WHERE> &predicate,
                            const block_shared<Element> &s) {
    struct row r = row_at(a.rows, row);
    if (predicate.none)
        r.k = 0;
    if (begin_row<Element, WHERE>(a, row, r).phase != AIR_OPEN)
        return;
    simt_block_sync(); /* the bins are clear */
    count_row<Element, true, false>(source_of(a.rows, r, predicate), simt_block(), simt_blocks(), a.rows.map,
                                    range_of<Element>(0, all_codes(8 * sizeof(Element))), digit_of(a),
                                    s.bins);
    (void)retire<WHERE>(a, row, false, s);
}

/* WHERE, here and below: elements that do not meet the call's predicate do not count. */
template <typename Element, bool WHERE>
TOPK_KERNEL TOPK_BOUNDS(AIR_THREADS,
                        WHERE ? AIR_BLOCKS_PER_SM : FIRST_BLOCKS) void air_first(struct air_args a) {
    simt_arena arena = simt_shared_arena();
    block_shared<Element> s = carve_block<Element>(arena, AIR_THREADS / SIMT_WARP, 0);
    clear_bins(s.bins, 1u << a.this_digit);
    if (WHERE && simt_thread() == 0)
        s.bins[OTHER_BIN] = 0;
    simt_wait_predecessor();
    if (a.has_successor)
        simt_allow_successor();
    const matcher<Element, WHERE> predicate = matcher<Element, WHERE>::of(a.predicate);
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        first_pass(a, row, predicate, s);
        simt_block_sync();
    }
}

/* ---- The following passes ---- */

/* Candidates on their way to the buffer, whose next digit is counted if `counts`. */
template <typename Element> struct buffer_sink {
    static const bool HAS_LIMIT = false;
    const struct air_args &a;
    int64_t row;
    bool counts;
    simt_shared<uint32_t> bins;

    TOPK_MEMBER uint64_t take(uint32_t count) const {
        return take_places(&a.states[row].buffered, count);
    }
    TOPK_MEMBER void put(uint64_t place, key_word_t<Element> bits, int64_t position) const {
        int64_t at = row * a.capacity + (int64_t)place;
        ((Element *)a.candidates)[at] = (Element)bits;
        if (a.wide)
            ((uint64_t *)a.positions)[at] = (uint64_t)position;
        else
            ((uint32_t *)a.positions)[at] = (uint32_t)position;
        if (counts)
            count_digit<Element>(code_of<Element>(bits, a.rows.map), digit_of(a), bins);
    }
    TOPK_MEMBER bool full(void) const {
        return false;
    }
};

/* The blocks that share a row, and which of them this is. */
struct crew {
    uint32_t block, blocks;
};

TOPK_DEVICE struct crew all_blocks(void) {
    return crew{simt_block(), simt_blocks()};
}

/* Filters this block's part of a row. */
template <typename Element, typename Source, typename Winners, typename Candidates>
TOPK_DEVICE void filter_input(const struct air_args &a, const Source &source, struct crew crew,
                              key_range<Element> range, const block_shared<Element> &s,
                              const Winners &winners, const Candidates &candidates) {
    hit_queues<Element, Winners, Candidates> queues = {
        {winners, candidates}, {s.winner_queue, 0}, {s.candidate_queue, 0}, 0};
    filter_row<Element, false>(source, crew.block, crew.blocks, a.rows.map, range, queues);
}

/* Writes the row's winners, buffers its candidates and, if `counts`, counts their next digit. */
template <typename Element, typename Source>
TOPK_DEVICE void leave_input(const struct air_args &a, int64_t row, const struct row &r, const Source &source,
                             const struct air_state &state, bool counts, const block_shared<Element> &s) {
    const uint64_t winners = (uint64_t)r.k - state.need;
    filter_input(a, source, all_blocks(), range_of<Element>(state.low, state.high), s,
                 result_sink<Element, uint64_t *>{a, row, r, &a.states[row].winners, 0, winners, false, 0},
                 buffer_sink<Element>{a, row, counts, s.bins});
}

/* Counts the next digit of the candidates in the buffer. */
template <typename Element>
TOPK_DEVICE void count_buffer(const struct air_args &a, int64_t row, int64_t count, key_range<Element> range,
                              const block_shared<Element> &s) {
    int64_t tiles = buffer_tiles<Element>(count);
    for (int64_t tile = simt_block(); tile < tiles; tile += simt_blocks())
        count_tile<Element, false>(load_buffer<Element>(a, row, tile, count, false), a.rows.map, range,
                                   digit_of(a), s.bins);
}

/* The candidates fit one block: the last block to have written them does the rest. */
template <typename Element, typename Source>
TOPK_DEVICE void leave_and_finish(const struct air_args &a, int64_t row, const struct row &r,
                                  const Source &source, const struct air_state &state,
                                  const block_shared<Element> &s) {
    leave_input(a, row, r, source, state, false, s);
    if (last_of_blocks(&a.states[row].retired, s.flag)) {
        finish_row(a, row, r, state, s);
        simt_block_sync();
        clear_bins(s.bins, 1u << a.digit_bits);
    }
}

/* Writes the results of a row whose digits are all known. */
template <typename Element, typename Source>
TOPK_DEVICE void last_in_any_order(const struct air_args &a, int64_t row, const struct row &r,
                                   const Source &source, struct crew crew, const struct air_state &state,
                                   const struct last_plan &plan, const block_shared<Element> &s) {
    typedef result_sink<Element, uint64_t *> sink;
    key_range<Element> range = range_of<Element>(state.low, state.high);
    struct air_state *counters = &a.states[row];
    sink winners = {a, row, r, &counters->winners, 0, plan.winners, false, 0};
    sink ties = {a, row, r, &counters->ties, plan.winners, plan.kept, false, 0};
    if (state.left == 0) {
        filter_input(a, source, crew, range, s, winners, ties);
        return;
    }
    hit_queues<Element, sink, sink> queues = {
        {winners, ties}, {s.winner_queue, 0}, {s.candidate_queue, 0}, 0};
    int64_t count = (int64_t)state.buffered, tiles = buffer_tiles<Element>(count);
    for (int64_t tile = crew.block; tile < tiles; tile += crew.blocks)
        filter_tile<Element>(load_buffer<Element>(a, row, tile, count, true), a.rows.map, range, queues);
    drain(queues);
}

/* The row's digits are known: it is written now. What goes in the order of positions is left to the last
 * filter. */
template <typename Element, typename Source>
TOPK_DEVICE void settle(const struct air_args &a, int64_t row, const struct row &r, const Source &source,
                        struct crew crew, const struct air_state &state, const block_shared<Element> &s) {
    struct last_plan plan = plan_last_of_shared(a, state, r);
    if (plan.in_order || a.output == AIR_KTH)
        return;
    last_in_any_order(a, row, r, source, crew, state, plan, s);
    bool last = crew.blocks < simt_blocks(); /* alone: then the blocks have retired */
    if (last)
        simt_block_sync(); /* all threads have read the phase */
    else
        last = last_of_blocks(&a.states[row].retired, s.flag);
    if (last && simt_thread() == 0) {
        a.states[row].phase = AIR_DONE;
        simt_store_relaxed(&a.states[row].retired, 0u);
    }
}

/* The state that the last block of a pass has left; `before` is what the pass found. */
TOPK_DEVICE struct air_state state_left(const struct air_state *from, const struct air_state &before,
                                        bool leaves) {
    struct air_state state = before;
    state.low = from->low;
    state.high = from->high;
    state.need = from->need;
    state.candidates = from->candidates;
    state.phase = from->phase;
    if (leaves) {
        state.left = 1;
        state.buffered = before.candidates;
    }
    return state;
}

/* FUSED: the last block to finish with a row whose digits are then known settles it by itself. */
template <bool FUSED, typename Element, bool WHERE>
TOPK_DEVICE void next_pass(const struct air_args &a, int64_t row, const matcher<Element, WHERE> &predicate,
                           const block_shared<Element> &s) {
    struct air_state state = read_state(&a.states[row]);
    if (state.phase == AIR_DONE)
        return;
    struct row r = counted_row<WHERE>(a, row);
    const row_source<Element, WHERE> source = source_of(a.rows, r, predicate);
    if (state.phase == AIR_DECIDED) {
        settle(a, row, r, source, all_blocks(), state, s);
        return;
    }
    bool leaves = state.left == 0 && state.candidates <= (uint64_t)a.capacity && a.output != AIR_IN_ORDER;
    if (leaves && state.candidates <= a.block_candidates) {
        leave_and_finish(a, row, r, source, state, s);
        return;
    }
    simt_block_sync(); /* the bins are clear */
    if (state.left != 0)
        count_buffer(a, row, (int64_t)state.buffered, range_of<Element>(state.low, state.high), s);
    else if (leaves)
        leave_input(a, row, r, source, state, true, s);
    else
        count_row<Element, false, false>(source, simt_block(), simt_blocks(), a.rows.map,
                                         range_of<Element>(state.low, state.high), digit_of(a), s.bins);
    bool last = retire<false>(a, row, leaves, s);
    if (FUSED && last)
        settle(a, row, r, source, crew{0, 1}, state_left(&a.states[row], state, leaves), s);
}

/* The slots behind a row's results, shared among blocks. */
template <typename Element>
TOPK_DEVICE void pad_row(const struct air_args &a, int64_t row, const struct row &r) {
    int64_t step = (int64_t)simt_blocks() * simt_threads();
    for (int64_t slot = r.k + (int64_t)simt_block() * simt_threads() + simt_thread(); slot < a.rows.k_max;
         slot += step)
        write_padding<Element>(a.rows, row, slot);
}

/* FUSED: for the last digit, if there may be no last filter after it; not with WHERE. */
template <typename Element, bool WHERE, bool FUSED>
TOPK_KERNEL TOPK_BOUNDS(AIR_THREADS, AIR_BLOCKS_PER_SM) void air_next(struct air_args a) {
    simt_arena arena = simt_shared_arena();
    block_shared<Element> s = carve_block<Element>(arena, AIR_THREADS / SIMT_WARP, a.block_candidates);
    clear_bins(s.bins, 1u << a.this_digit);
    simt_wait_predecessor();
    if (a.has_successor)
        simt_allow_successor();
    const matcher<Element, WHERE> predicate = matcher<Element, WHERE>::of(a.predicate);
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        next_pass<FUSED>(a, row, predicate, s);
        if (FUSED && a.output == AIR_DIRECT)
            pad_row<Element>(a, row, row_at(a.rows, row));
        simt_block_sync();
    }
}

#endif
