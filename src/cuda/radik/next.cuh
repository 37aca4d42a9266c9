/* SPDX-License-Identifier: Apache-2.0
 * The passes after the first one. Once the candidates fit their buffer, a pass over the input writes what is
 * above them and buffers them; from then on the buffer takes the input's place. The last block to buffer a
 * few candidates does all the rest. Rows that need no digit more have their results written. */
#ifndef TOPK_SRC_CUDA_RADIK_NEXT_CUH
#define TOPK_SRC_CUDA_RADIK_NEXT_CUH

#include "../select/ordered_lookback.cuh"
#include "first.cuh"

/* Where the results of a row go. */
template <typename Element, bool WHERE> struct row_outlet {
    struct target to;
    const part_task<Element, WHERE> &t;

    static TOPK_MEMBER row_outlet of(const part_task<Element, WHERE> &t) {
        return row_outlet{target_of_state(t.a.target, t.part.of.state), t};
    }
    TOPK_MEMBER row_target<Element> target(void) const {
        return row_target<Element>{t.a.rows, to, t.part.of.row, t.r};
    }
    TOPK_MEMBER auto winner_sink(uint64_t winners) const {
        const bool is_written = to.kind != TARGET_KTH;
        return result_sink{target(), &t.counters()->winners, (uint64_t)0, is_written ? winners : 0};
    }
    TOPK_MEMBER auto tie_sink(const struct result_plan &plan) const {
        return result_sink{target(), &t.counters()->ties, plan.winners, plan.ties};
    }
};

/* Candidates on their way to the buffer, of which the next digit is counted. */
template <typename Task, typename Digit, typename Sink> struct digit_sink : Sink {
    const Task &t;
    const Digit &digit;

    TOPK_MEMBER void put(uint64_t slot, typename Sink::word bits, int64_t position) const {
        Sink::put(slot, bits, position);
        t.count(digit.bin(key_of<typename Sink::element>(bits, t.a.rows.map)));
    }
};

/* Filters the part's elements, or the buffered ones, by the row's range. `hits`: how many are expected of all
 * blocks. All threads. */
template <typename Element, bool WHERE, typename Winners, typename Candidates>
TOPK_DEVICE void filter_part(const part_task<Element, WHERE> &t, uint64_t hits, const Winners &winners,
                             const Candidates &candidates) {
    const code_range<Element> range = t.range();
    const auto from_input = [&](auto &out) TOPK_LAMBDA {
        for_part_tiles<Element, true>(t.source, t.part, t.a.pads, [&](const auto &tile) TOPK_LAMBDA {
            filter_tile<Element>(tile, range, out);
        });
        drain(out);
    };
    if (!t.a.uses_buffer) {
        TOPK_REACHED(REACHED_RADIK_SINGLE);
        single_hits<Winners, Candidates> out = {{winners, candidates}};
        if (t.state.is_buffered != 0)
            filter_candidates(t.buffer(), (int64_t)t.state.buffered, t.part.share, range, out);
        else
            from_input(out);
    } else if (t.state.is_buffered == 0 && hits > (uint64_t)t.r.length / RADIK_MANY_RESULTS) {
        TOPK_REACHED(REACHED_RADIK_MANY);
        const int64_t tile = (int64_t)RADIK_THREADS * tile_shape<Element>::GROUPS * tile_shape<Element>::PER;
        buffered_hits<Element, Winners, Candidates> out = {
            {winners, candidates}, t.m.buffer, t.part.first * tile};
        from_input(out);
    } else {
        auto out = queues_over(t.m.queues, winners, candidates);
        if (t.state.is_buffered != 0)
            filter_candidates(t.buffer(), (int64_t)t.state.buffered, t.part.share, range, out);
        else
            from_input(out);
    }
}

/* Counts the next digit of the buffered candidates. */
template <typename Element, bool WHERE>
TOPK_DEVICE void count_buffered(const part_task<Element, WHERE> &t, const key_digit<Element> &digit) {
    const code_range<Element> range = t.range();
    for_candidates<4>(t.buffer(), (int64_t)t.state.buffered, t.part.share, [&](const auto &tile) TOPK_LAMBDA {
#pragma unroll
        for (uint32_t g = 0; g < 4; g++) {
            const key_word_t<Element> bits = tile.bits(g, 0);
            if (tile.valid(g) && range.holds(range.code(bits)))
                t.count(digit.bin(key_of<Element>(bits, t.a.rows.map)));
        }
    });
}

/* Counts the next digit of what is left, in the buffer, or in the input, from which `buffers` sends it to the
 * buffer. Returns whether this block was the last. */
template <typename Element, bool WHERE>
TOPK_DEVICE bool count_next(const part_task<Element, WHERE> &t, bool buffers) {
    typedef candidate_sink<global_list<Element>, uint64_t *> buffer_sink;
    typedef part_task<Element, WHERE> task;
    const key_digit<Element> digit = t.digit();
    if (t.state.is_buffered != 0) {
        TOPK_REACHED(REACHED_RADIK_FROM_BUFFER);
        count_buffered(t, digit);
    } else if (buffers) {
        TOPK_REACHED(REACHED_RADIK_BUFFERED);
        const uint64_t winners = (uint64_t)t.r.k - t.state.range.need;
        const row_outlet<Element, WHERE> outlet = row_outlet<Element, WHERE>::of(t);
        filter_part(t, winners, outlet.winner_sink(winners),
                    digit_sink<task, key_digit<Element>, buffer_sink>{
                        {t.buffer(), &t.counters()->buffered}, t, digit});
    } else {
        TOPK_REACHED(REACHED_RADIK_NO_BUFFER);
        (void)count_part<true>(t, digit);
    }
    return retire(t, digit, buffers);
}

/* The last block to buffer a row's few candidates narrows the range by the digits that are missing, and
 * writes the results, unless they have to go in the order of positions. `range`: after the digit that was
 * counted on the way. All threads. */
template <typename Element, bool WHERE> TOPK_DEVICE void finish_row(const part_task<Element, WHERE> &t) {
    struct radik_state *state = t.counters();
    struct kth_range range = state->range;
    const uint32_t count = (uint32_t)t.state.range.candidates;
    const shared_list<Element> &list = t.m.candidates;
    const global_list<Element> buffer = t.buffer();
    for (uint32_t i = simt_thread(); i < count; i += simt_threads())
        list.put(i, buffer.bits(i), buffer.position(i));
    simt_block_sync();
    while (!is_decided(t.a.digits, range)) {
        const code_range<Element> codes = t.codes_of(range);
        narrow_keys(key_digit<Element>::even(range, t.a.digits.bits), t.a.digits.bits, t.m.digit, &range,
                    [&](const auto &work) TOPK_LAMBDA {
                        for (uint32_t i = simt_thread(); i < count; i += simt_threads())
                            if (codes.holds(codes.code(list.bits(i))))
                                work(key_of<Element>(list.bits(i), t.a.rows.map));
                    });
    }
    const row_outlet<Element, WHERE> outlet = row_outlet<Element, WHERE>::of(t);
    const struct result_plan plan = plan_results(outlet.to, range, t.r.k);
    const bool is_kth = t.a.target.kind == TARGET_KTH, is_left = plan.in_order && !is_kth;
    TOPK_REACHED(is_left ? REACHED_RADIK_FINISH_LEFT : REACHED_RADIK_FINISH);
    simt_block_sync(); /* all threads have read the range */
    if (simt_thread() == 0) {
        state->range = range;
        state->phase = is_left ? RADIK_DECIDED : RADIK_DONE;
        if (is_kth)
            t.write_kth_class(range);
    }
    if (is_left || is_kth)
        return;
    hit_sinks sinks = {outlet.winner_sink(plan.winners), outlet.tie_sink(plan)};
    filter_candidates(list, count, for_one_block(), t.codes_of(range), sinks);
}

/* Writes the results of a row that needs no digit more. */
template <typename Element, bool WHERE> TOPK_DEVICE void write_decided(const part_task<Element, WHERE> &t) {
    const struct kth_range &range = t.state.range;
    const row_outlet<Element, WHERE> outlet = row_outlet<Element, WHERE>::of(t);
    const struct result_plan plan = plan_results(outlet.to, range, t.r.k);
    struct radik_state *state = t.counters();
    if (plan.in_order) {
        TOPK_REACHED(REACHED_RADIK_IN_ORDER);
        const int64_t tiles = t.part.of.tiles + 2;
        const struct lookback_args lookback = {tiles, look_back_words(tiles),
                                               t.a.lookback + RADIK_WORDS_OF_TILE * t.part.of.first_tile +
                                                   RADIK_WORDS_OF_ROW * t.part.of.state};
        lookback_prefixes prefixes = {
            {plan.winners, range.need}, t.m.scratch, t.m.bases, lookback, 0, &state->next, &state->finished};
        filter_row_in_order(t.source, t.range(), prefixes, outlet.target());
    } else {
        filter_part(t, plan.winners + plan.ties, outlet.winner_sink(plan.winners), outlet.tie_sink(plan));
    }
    if (last_of_part(t.part, &state->retired, t.m.flag) && simt_thread() == 0) {
        state->phase = RADIK_DONE;
        simt_store_relaxed(&state->retired, 0u);
    }
}

template <typename Element, bool WHERE>
TOPK_KERNEL TOPK_BOUNDS(RADIK_THREADS, RADIK_BLOCKS_PER_SM) void radik_next(struct radik_args a) {
    const pass_memory<Element> m = begin_pass<Element>(a);
    for_tasks<Element, WHERE>(a, m, [&](const part_task<Element, WHERE> &t) TOPK_LAMBDA {
        if (t.state.phase == RADIK_DECIDED) {
            write_decided(t);
        } else if (t.state.phase == RADIK_OPEN) {
            const bool buffers = t.state.is_buffered == 0 && t.state.range.candidates <= t.capacity() &&
                                 a.target.kind != TARGET_LIST;
            if (count_next(t, buffers) && buffers && t.state.range.candidates <= RADIK_FINISH_CANDIDATES)
                finish_row(t);
        }
        if (a.writes && a.target.kind == TARGET_OUTPUTS)
            pad_row<Element>(a.rows, t.part.of.row, t.r, t.part.share);
    });
}

#endif
