/* SPDX-License-Identifier: Apache-2.0
 * What the passes of radik share: the shared memory of a block, a row in a launch, and the end of a pass. */
#ifndef TOPK_SRC_CUDA_RADIK_STATE_CUH
#define TOPK_SRC_CUDA_RADIK_STATE_CUH

#include "../select/candidates.cuh"
#include "../select/queue.cuh"
#include "../select/target.cuh"
#include "digit.cuh"
#include "tasks.cuh"

/* Shared memory of a block. */
struct pass_memory {
    struct digit_memory digit;
    simt_shared<uint32_t> scratch; /* of scans */
    simt_shared<uint64_t> bases;   /* of the ordered filter, and slots of sinks */
    simt_shared<uint64_t> above;   /* elements above a drawn range; atomic */
    simt_shared<uint32_t> flag;
};

TOPK_HOST_DEVICE struct pass_memory carve_pass(simt_arena &arena, uint32_t bits) {
    struct pass_memory m;
    m.bases = simt_carve<uint64_t>(arena, 2);
    m.above = simt_carve<uint64_t>(arena, 1);
    m.digit = carve_digits(arena, bits);
    m.scratch = simt_carve<uint32_t>(arena, SIMT_WARP);
    m.flag = simt_carve<uint32_t>(arena, 1);
    return m;
}

/* All threads; a barrier must follow. */
TOPK_DEVICE void clear_pass(const struct pass_memory &m, uint32_t bits) {
    clear_bins(m.digit.bins, 1u << bits);
    if (simt_thread() == 0)
        m.above[0] = 0;
}

/* A range of codes that are not cut: all codes of the keys from low to high. It holds all of a class, or
 * none: the lesser code of a zero is no key. */
template <typename Element> struct uncut_range {
    typedef key_word_t<Element> word;
    const struct code_map &map;
    word low, span;

    static TOPK_MEMBER uncut_range of(const struct kth_range &range, const struct code_map &map) {
        const word low = range.low <= map.lowest ? 0 : class_first<Element>((word)range.low, map);
        return uncut_range{map, low, (word)(last_code(range, map) - low)};
    }
    TOPK_MEMBER word code(word bits) const {
        return uncut_code_of<Element>(bits, map);
    }
    TOPK_MEMBER bool is_hit(word code) const {
        return code >= low;
    }
    TOPK_MEMBER bool holds(word code) const {
        return code - low <= span;
    }
    TOPK_MEMBER bool is_below(word code) const {
        return code > low + span;
    }

  private:
    static TOPK_MEMBER word last_code(const struct kth_range &range, const struct code_map &map) {
        const bool is_zero = range.high == map.zeros && range.high % 2 == 0; /* odd: there are none */
        return range.high >= map.highest ? (word)(Element) ~(Element)0 : (word)(range.high - is_zero);
    }
};

/* A block's part of a row, in a launch. */
template <typename Element, bool WHERE> struct part_task {
    typedef key_word_t<Element> word;
    const struct radik_args &a;
    const struct pass_memory &m;
    const struct block_part &part;
    const struct row &r;
    row_source<Element, WHERE> source;
    struct kth_range known; /* the row's range, as the launch finds it */
    bool is_drawn;
    int64_t buffered; /* candidates in the buffer; negative: none have been buffered */

    TOPK_MEMBER struct radik_state *state(void) const {
        return &a.states[part.of.state];
    }
    TOPK_MEMBER uncut_range<Element> range(void) const {
        return uncut_range<Element>::of(known, a.rows.map);
    }
    TOPK_MEMBER global_list<Element> buffer(void) const {
        return global_list<Element>{a.candidates, part.of.first_tile * a.tile_capacity};
    }
    /* The next digit of the row. */
    TOPK_MEMBER key_digit<Element> digit(void) const {
        const bool is_open = known.low > 0 && (word)known.high == (word)(Element) ~(Element)0;
        return is_drawn && is_open && a.digits.bits >= key_digit<Element>::OCTAVE_BITS
                   ? key_digit<Element>::octaves(known, a.digits.bits)
                   : key_digit<Element>::even(known, a.digits.bits);
    }
    /* Adds one to a bin: of the block, or of the row, without the write buffer. */
    TOPK_MEMBER void count(const key_digit<Element> &digit, word bits) const {
        const uint32_t bin = digit.bin(key_of<Element>(bits, a.rows.map));
        if (a.uses_buffer)
            simt_atomic_add(&m.digit.bins[bin], 1u);
        else
            simt_atomic_add(&row_bins()[bin], (uint64_t)1);
    }
    TOPK_MEMBER uint64_t *row_bins(void) const {
        return a.histograms + (part.of.state << a.digits.bits);
    }
    TOPK_MEMBER void write_kth_class(const struct kth_range &range) const {
        write_kth<Element>(a.kth, part.of.row, decode_key(a.decode, range.low), r.k - (int64_t)range.need,
                           (int64_t)range.candidates);
    }
};

/* What all kernels that read rows do with a block's part of one: work(task, phase). `skips` as in
 * for_own_parts(). */
template <typename Element, bool WHERE, int NEXT_ROW, typename Work>
TOPK_DEVICE void for_tasks(const struct radik_args &a, const struct pass_memory &m, bool skips,
                           const Work &work) {
    for_own_parts<Element, NEXT_ROW>(a, skips, m.flag, [&](const struct block_part &part) TOPK_LAMBDA {
        const matcher<Element, WHERE> predicate = matcher<Element, WHERE>::of(a.predicate);
        const struct radik_state *state = &a.states[part.of.state];
        const uint64_t phase = state->phase;
        struct row r = row_at(a.rows, part.of.row);
        r.k = WHERE && state->matches < r.k ? state->matches : r.k;
        work(part_task<Element, WHERE>{a, m, part, r, source_of(a.rows, r, predicate), state->range,
                                       state->is_drawn != 0,
                                       state->is_buffered != 0 ? (int64_t)state->buffered : -1},
             phase);
    });
}

/* Counts a digit of the elements that match and lie in the range, and adds to *above those beyond. */
template <typename Element, bool WHERE, typename Tile>
TOPK_DEVICE void count_tile_between(const part_task<Element, WHERE> &t, const Tile &of_any_kind,
                                    const key_digit<Element> &digit, const uncut_range<Element> &range,
                                    uint32_t *above) {
    typedef key_word_t<Element> word;
    branch_once(of_any_kind, [&](const auto &tile) TOPK_LAMBDA {
#pragma unroll
        for (uint32_t g = 0; g < Tile::GROUPS; g++) {
            bool any = false;
            uint32_t beyond = 0;
#pragma unroll
            for (uint32_t e = 0; e < Tile::PER; e++) {
                const word code = range.code(tile.bits(g, e));
                any |= range.holds(code);
                beyond += range.is_below(code) && is_match(tile, g, e);
            }
            *above += tile.valid(g) ? beyond : 0;
            if (!any || !tile.valid(g))
                continue;
#pragma unroll
            for (uint32_t e = 0; e < Tile::PER; e++)
                if (range.holds(range.code(tile.bits(g, e))) && is_match(tile, g, e))
                    t.count(digit, tile.bits(g, e));
        }
    });
}

/* Counts a digit of the part's elements in the range; returns how many the thread has found beyond. */
template <bool BACKWARD, typename Element, bool WHERE>
TOPK_DEVICE uint32_t count_part(const part_task<Element, WHERE> &t, const key_digit<Element> &digit) {
    const uncut_range<Element> range = t.range();
    uint32_t above = 0;
    for_part_tiles<Element, BACKWARD>(t.source, t.part, t.a.pads, [&](const auto &tile) TOPK_LAMBDA {
        count_tile_between(t, tile, digit, range, &above);
    });
    return above;
}

/* Nothing is left to do for the row, but for what goes in order. One thread, once for each row. */
template <typename Element, bool WHERE>
TOPK_DEVICE void end_row(const part_task<Element, WHERE> &t, enum radik_phase phase) {
    t.state()->phase = phase;
    simt_store_relaxed(&t.state()->retired, 0u);
    simt_atomic_add(t.a.tasks.finished, (uint64_t)1);
}

/* A digit is counted: the k-th is in `range`. One thread. */
template <typename Element, bool WHERE>
TOPK_DEVICE void end_digit(const part_task<Element, WHERE> &t, struct kth_range range, bool buffers) {
    struct radik_state *state = t.state();
    state->range = range;
    state->is_drawn = 0;
    if (buffers)
        state->is_buffered = 1;
    const bool is_counted = !WHERE || range.candidates <= (uint64_t)t.r.length;
    if (!is_counted || !is_decided(t.a.digits, range))
        return;
    if (t.a.target.kind == TARGET_KTH) {
        t.write_kth_class(range);
        end_row(t, RADIK_DONE);
    } else if (plan_results(t.a.target, range, t.r.k).in_order) {
        end_row(t, RADIK_ORDERED);
    } else {
        state->phase = RADIK_DECIDED;
    }
}

/* The k-th is not in the range that the digit was counted in, which has `total` elements: it is beyond it,
 * where there are `above`; or behind it; or fewer elements match than are wanted. One thread. */
template <typename Element, bool WHERE>
TOPK_DEVICE void leave_range(const part_task<Element, WHERE> &t, uint64_t above, uint64_t total) {
    struct kth_range range = t.known;
    if (above >= range.need) {
        TOPK_REACHED(REACHED_RADIK_ABOVE);
        range.low = range.high + 1;
        range.high = ~(uint64_t)0 >> (64 - 8 * sizeof(Element));
        range.candidates = above;
    } else if (range.low > t.a.rows.map.lowest) {
        TOPK_REACHED(REACHED_RADIK_BELOW);
        range.high = range.low - 1;
        range.low = 0;
        range.need -= above + total;
        range.candidates = WHERE ? (uint64_t)t.r.length + 1 /* unknown */ : t.r.length - above - total;
    } else {
        TOPK_REACHED(REACHED_RADIK_FEW_MATCHES);
        const int64_t matches = t.r.k - (int64_t)(range.need - above - total);
        t.state()->matches = matches;
        if (t.a.matches != nullptr)
            t.a.matches[t.part.of.row] = matches;
        range.need = total;
        range.candidates = total;
    }
    end_digit(t, range, false);
}

/* Adds the block's bins to the row's, and leaves its own clear. `above`: elements that the thread has found
 * beyond the range. The last block narrows the range by the digit, and leaves the row's bins clear, too;
 * returns whether this is that block. `buffers`: this pass has filled the candidate buffer. All threads. */
template <typename Element, bool WHERE>
TOPK_DEVICE bool retire(const part_task<Element, WHERE> &t, const key_digit<Element> &digit, uint32_t above,
                        bool buffers) {
    const uint32_t count = 1u << t.a.digits.bits;
    uint64_t *bins = t.row_bins();
    struct radik_state *state = t.state();
    const struct pass_memory &m = t.m;
    const uint64_t of_warp = simt_reduce_add(SIMT_ALL_LANES, (uint64_t)above);
    if (simt_lane() == 0 && of_warp != 0)
        simt_atomic_add(&m.above[0], of_warp);
    simt_block_sync();
    move_bins(m.digit.bins, count, bins);
    if (simt_thread() == 0 && (uint64_t)m.above[0] != 0) {
        simt_atomic_add(&state->above, (uint64_t)m.above[0]);
        m.above[0] = 0;
    }
    if (!last_of_part(t.part, &state->retired, m.flag))
        return false;
    const uint64_t beyond = t.is_drawn ? simt_load_relaxed(&state->above) : 0, need = t.known.need - beyond;
    const bool is_above = beyond >= t.known.need;
    const uint64_t total = find_kth_bin(
        [&](uint32_t bin) TOPK_LAMBDA { return bins[bin]; }, count, is_above ? ~(uint64_t)0 : need,
        m.digit.sums,
        [&](uint32_t bin, uint64_t better, uint64_t held) TOPK_LAMBDA {
            end_digit(t, kth_range{digit.first(bin), digit.last(bin), need - better, held}, buffers);
        });
    if (simt_thread() == 0 && (is_above || total < need))
        leave_range(t, beyond, total);
    simt_block_sync();
    for (uint32_t bin = simt_thread(); bin < count; bin += simt_threads())
        bins[bin] = 0;
    if (simt_thread() == 0)
        simt_store_relaxed(&state->retired, 0u);
    return true;
}

#endif
