/* SPDX-License-Identifier: Apache-2.0
 * The way out for any data: digits of codes, and then of positions, of a row's elements are counted until the
 * undecided candidates are few enough for one block to put in order. */
#ifndef TOPK_SRC_CUDA_BRACKET_WAY_OUT_CUH
#define TOPK_SRC_CUDA_BRACKET_WAY_OUT_CUH

#include "../select/digit.cuh"
#include "emit.cuh"

/* How far a row is on the way out; the same in all threads of its blocks. */
struct way_out {
    struct kth_range range;     /* of codes */
    struct kth_range positions; /* complements of the ties' positions, once the codes are known */
    uint32_t unknown_codes, unknown_positions;
};

template <typename Element, typename Shape>
TOPK_DEVICE struct way_out begin_way_out(const bracket_task<Element, Shape> &t) {
    struct way_out w = {};
    w.range = whole_range<Element>((uint64_t)t.r.k, (uint64_t)t.r.length);
    w.unknown_codes = 8 * sizeof(Element);
    w.unknown_positions = 64 - simt_clz((uint64_t)t.r.length);
    return w;
}

/* The range that is being narrowed. */
TOPK_DEVICE const struct kth_range &range_at_hand(const struct way_out &w) {
    return w.unknown_codes != 0 ? w.range : w.positions;
}

/* Whether the candidates need not become fewer. */
template <typename Element, typename Shape>
TOPK_DEVICE bool is_way_out_found(const bracket_task<Element, Shape> &t, const struct way_out &w) {
    const struct kth_range &range = range_at_hand(w);
    if (t.a.target.kind == TARGET_KTH)
        return w.unknown_codes == 0 || range.candidates <= Shape::SENT;
    if (t.a.target.kind == TARGET_OUTPUTS)
        return range.candidates <= Shape::SENT || range.candidates == range.need;
    return (uint64_t)t.r.k - range.need + range.candidates <= Shape::SENT;
}

/* Calls work(bits, position) with the elements of the block's share of the row that match. One by one, so
 * that the code is short. All threads. */
template <typename Element, typename Shape, typename Work>
TOPK_DEVICE void for_source(const bracket_task<Element, Shape> &t, const Work &work) {
    const uint32_t BATCH = 4, end = (uint32_t)t.r.length, step = simt_threads() * t.share.blocks;
    const Element *values = t.values();
    for (uint64_t first = t.share.block * simt_threads() + simt_thread(); first < end;
         first += BATCH * (uint64_t)step) {
        key_word_t<Element> bits[BATCH];
#pragma unroll
        for (uint32_t i = 0; i < BATCH; i++) {
            const uint64_t at = first + i * (uint64_t)step;
            bits[i] = at < end ? values[at] : 0;
        }
#pragma unroll
        for (uint32_t i = 0; i < BATCH; i++) {
            const uint64_t at = first + i * (uint64_t)step;
            if (at >= end)
                break;
            if (is_match_at(t, bits[i], (uint32_t)at))
                work(bits[i], (uint32_t)at);
        }
    }
}

/* What one step counts. */
struct way_count {
    struct digit digit;
    bool of_codes;
};

TOPK_DEVICE struct way_count next_step(struct way_out *w) {
    const struct digit_plan plan = {SELECT_DIGIT_BITS_MAX, false, 0};
    struct way_count step = {};
    step.of_codes = w->unknown_codes != 0;
    step.digit = next_digit(plan, step.of_codes ? &w->unknown_codes : &w->unknown_positions);
    return step;
}

/* Counts a digit of what is in range, of the block's share. All threads. */
template <typename Element, typename Shape>
TOPK_DEVICE void count_step(const bracket_task<Element, Shape> &t, const struct way_out &w,
                            const struct way_count &step, const struct team_turn &turn) {
    const struct digit_counter counter = {step.digit, t.m.digit.bins};
    const code_range<Element> range = code_range_of<Element>(t.a.rows.map, w.range);
    const uint32_t low = (uint32_t)w.positions.low, high = (uint32_t)w.positions.high;
    clear_bins(t.m.digit.bins, SELECT_BINS_MAX);
    simt_block_sync();
    for_source(t, [&](key_word_t<Element> bits, uint32_t at) TOPK_LAMBDA {
        const key_word_t<Element> code = range.code(bits);
        if (range.holds(code) && step.of_codes)
            counter.count<Element>(code);
        else if (range.holds(code) && ~at - low <= high - low)
            counter.count<uint32_t>(~at);
    });
    simt_block_sync();
    tell_bins(t, turn);
}

/* The codes are known. */
TOPK_DEVICE void begin_positions(struct way_out *w, uint64_t need, uint64_t ties) {
    const uint64_t below = ((uint64_t)1 << w->unknown_positions) - 1;
    w->positions = kth_range{(uint32_t)~below, UINT32_MAX, need, ties};
}

/* Narrows the ranges by what has been counted in the row. All threads of all of its blocks. */
template <typename Element, typename Shape>
TOPK_DEVICE void narrow_step(bracket_task<Element, Shape> *t, struct way_out *w, const struct way_count &step,
                             uint32_t bins) {
    const uint32_t PER = SELECT_BINS_MAX / BRACKET_THREADS;
    const bool is_first = step.digit.shift + simt_popc(step.digit.mask) == 8 * sizeof(Element);
    struct code_map map = {0, 0, 0, 0, 0, 0, 0, ~(uint64_t)0}; /* positions have no zeros */
    hear_bins(*t, bins);
    if (step.of_codes)
        map = t->a.rows.map;
    else
        TOPK_REACHED(REACHED_BRACKET_GPU_POSITIONS);
    const uint64_t total =
        narrow<PER, true>(map, step.digit, t->m.digit, step.of_codes ? &w->range : &w->positions);
    if (step.of_codes && is_first && total < (uint64_t)t->r.k) {
        TOPK_REACHED(REACHED_BRACKET_GPU_FEW_MATCHES);
        t->r.k = (int64_t)total;
    }
    if (step.of_codes && w->unknown_codes == 0)
        begin_positions(w, w->range.need, w->range.candidates);
}

/* Until the way out is found. All threads. */
template <typename Element, typename Shape>
TOPK_DEVICE void find_way_out(bracket_task<Element, Shape> *t, struct way_out *w, struct team_turn *turn) {
    do {
        const uint32_t bins = turn->bins();
        const struct way_count step = next_step(w);
        clear_next_turn(*t, *turn);
        count_step(*t, *w, step, *turn);
        meet_team(*t, turn);
        narrow_step(t, w, step, bins);
        simt_block_sync();
    } while (t->r.k > 0 && !is_way_out_found(*t, *w));
}

/* What a block writes on the way out: elements above `high` are winners, and of those from `low` on the ones
 * before position `first`; others from `low` on are candidates up to position `last`. */
template <typename Element> struct way_bounds {
    key_word_t<Element> low, high;
    uint32_t first, last;
    bool sends_winners, sends_candidates; /* else it writes them */
};

template <typename Element, typename Shape>
TOPK_DEVICE way_bounds<Element> bounds_of_way_out(const bracket_task<Element, Shape> &t,
                                                  const struct way_out &w) {
    typedef key_word_t<Element> word;
    const struct kth_range &range = range_at_hand(w);
    const bool writes = t.a.target.kind == TARGET_OUTPUTS;
    return way_bounds<Element>{(word)w.range.low,
                               (word)w.range.high,
                               w.unknown_codes != 0 ? 0 : ~(uint32_t)w.positions.high,
                               w.unknown_codes != 0 ? UINT32_MAX : ~(uint32_t)w.positions.low,
                               t.a.target.kind == TARGET_ENTRIES,
                               !writes || range.candidates != range.need};
}

/* Takes a slot from the row's counter, or from the block's if that is alone. */
template <typename Element, typename Shape>
TOPK_DEVICE uint32_t take_slot(const bracket_task<Element, Shape> &t, enum list_counter of) {
    if (t.is_alone())
        return simt_atomic_add(&t.m.slots[of], 1u);
    return simt_atomic_add(of == WINNER_SLOTS ? &t.state()->results : &t.state()->listed, 1u);
}

/* Writes and sends what the block's share of the row has of the results. Returns how much it
 * has sent. All threads. */
template <typename Element, typename Shape>
TOPK_DEVICE uint32_t emit_way_out(const bracket_task<Element, Shape> &t, const way_bounds<Element> &bounds) {
    const row_entries<Element> to = entries_of(t);
    const struct code_map &map = t.a.rows.map;
    if (simt_thread() < SLOT_COUNTERS)
        t.m.slots[simt_thread()] = 0;
    if (simt_thread() == 0)
        t.m.published[0] = 0;
    simt_block_sync();
    for_source(t, [&](key_word_t<Element> bits, uint32_t position) TOPK_LAMBDA {
        const key_word_t<Element> code = code_of<Element>(bits, map);
        const bool is_in = code >= bounds.low;
        const bool wins = code > bounds.high || (is_in && position < bounds.first);
        const bool ties = !wins && is_in && position <= bounds.last;
        if (wins ? bounds.sends_winners : ties && bounds.sends_candidates) {
            to.put(take_slot(t, TIE_SLOTS), bits, position);
            simt_atomic_add(&t.m.published[0], 1u);
        } else if ((wins || ties) && t.a.target.kind != TARGET_KTH) {
            write_result<Element>(t.a.rows, t.row, t.r, take_slot(t, WINNER_SLOTS), (Element)bits, position);
        }
    });
    simt_block_sync();
    const uint32_t sent = t.m.published[0];
    simt_block_sync();
    return sent;
}

/* Selects by the way out. All threads of all blocks of the row, which have met so often. */
template <typename Element, typename Shape>
TOPK_NOINLINE struct row_rest select_by_way_out(const struct bracket_args &a, int64_t row,
                                                uint32_t meetings) {
    bracket_task<Element, Shape> t = task_of<Element, Shape>(a, row);
    struct way_out w = begin_way_out(t);
    struct team_turn turn = {};
    turn.meetings = meetings;
    TOPK_REACHED(t.is_alone() ? REACHED_BRACKET_GPU_WAY_OUT_ALONE : REACHED_BRACKET_GPU_WAY_OUT);
    find_way_out(&t, &w, &turn);
    const struct kth_range &range = range_at_hand(w);
    const uint32_t k = (uint32_t)t.r.k, certain = k - (uint32_t)range.need;
    if (t.a.target.kind == TARGET_KTH && w.unknown_codes == 0) {
        if (t.leads() && simt_thread() == 0)
            write_kth<Element>(t.a.kth, t.row, decode_key(t.a.decode, w.range.low),
                               (int64_t)k - (int64_t)w.range.need, (int64_t)w.range.candidates);
        return row_rest{k, 0, 0, 0};
    }
    if (k == 0)
        return row_rest{0, 0, 0, 0};
    const way_bounds<Element> bounds = bounds_of_way_out(t, w);
    const uint32_t all =
        (bounds.sends_winners ? certain : 0) + (bounds.sends_candidates ? (uint32_t)range.candidates : 0);
    tell_sent(t, emit_way_out(t, bounds));
    return row_rest{k, all, bounds.sends_winners ? 0 : certain, 0};
}

#endif
