/* SPDX-License-Identifier: Apache-2.0
 * What the passes of radik share: the shared memory of a block, a row in a launch, and the end of a pass. */
#ifndef TOPK_SRC_CUDA_RADIK_STATE_CUH
#define TOPK_SRC_CUDA_RADIK_STATE_CUH

#include "digit.cuh"
#include "tasks.cuh"
#include "write_buffer.cuh"

/* Shared memory of a block. */
template <typename Element> struct pass_memory {
    struct digit_memory digit;
    simt_shared<uint32_t> scratch; /* of scans */
    simt_shared<uint64_t> bases;   /* of the ordered filter */
    simt_shared<uint64_t> above;   /* elements above a drawn range; atomic */
    simt_shared<uint32_t> flag;
    queues_memory<Element> queues;
    write_buffer<Element> buffer;
    shared_list<Element> candidates; /* that the last block finishes */
};

template <typename Element>
TOPK_HOST_DEVICE pass_memory<Element> carve_pass(simt_arena &arena, uint32_t bits) {
    pass_memory<Element> m;
    m.bases = simt_carve<uint64_t>(arena, 2);
    m.above = simt_carve<uint64_t>(arena, 1);
    m.queues = carve_queues<Element>(arena, RADIK_THREADS / SIMT_WARP);
    m.buffer = carve_write_buffer<Element>(arena);
    m.candidates = carve_list<Element>(arena, RADIK_FINISH_CANDIDATES);
    m.digit = carve_digits(arena, bits);
    m.scratch = simt_carve<uint32_t>(arena, SIMT_WARP);
    m.flag = simt_carve<uint32_t>(arena, 1);
    return m;
}

/* A row's state as the launch finds it. Counters that the launch may change are not among it: `buffered` is
 * read once the buffer is full. */
TOPK_DEVICE struct radik_state read_state(const struct radik_state *from) {
    struct radik_state state = {};
    state.range = from->range;
    state.phase = from->phase;
    state.is_drawn = from->is_drawn;
    state.is_buffered = from->is_buffered;
    state.matches = from->matches;
    if (state.is_buffered != 0)
        state.buffered = from->buffered;
    return state;
}

/* The first and the last code of a range of keys. The lesser code of a zero is no key. */
template <typename Element>
TOPK_DEVICE key_word_t<Element> first_code(const struct kth_range &range, const struct code_map &map) {
    return class_first<Element>((key_word_t<Element>)range.low, map);
}

template <typename Element>
TOPK_DEVICE key_word_t<Element> last_code(const struct kth_range &range, const struct code_map &map) {
    const bool is_zero =
        range.high == map.zeros && range.high % 2 == 0; /* map.zeros is odd if there is none */
    return (key_word_t<Element>)(range.high - is_zero);
}

/* Entries of a row lie where its state does. */
TOPK_DEVICE struct target target_of_state(const struct target &all, int64_t state) {
    struct target target = all;
    target.pitch = 0;
    if (all.kind == TARGET_ENTRIES) {
        target.entries += state * all.pitch;
        target.entries_low += all.two_words ? state * all.pitch : 0;
    }
    return target;
}

/* A block's part of a row, in a launch. */
template <typename Element, bool WHERE> struct part_task {
    typedef key_word_t<Element> word;
    const struct radik_args &a;
    const pass_memory<Element> &m;
    const struct row_part &part;
    const struct row &r;
    row_source<Element, WHERE> source;
    struct radik_state state; /* as the launch finds it */

    TOPK_MEMBER struct radik_state *counters(void) const {
        return &a.states[part.of.state];
    }
    /* The codes of the range, all those of its keys. */
    TOPK_MEMBER code_range<Element> range(void) const {
        return codes_of(state.range);
    }
    TOPK_MEMBER code_range<Element> codes_of(const struct kth_range &range) const {
        const word low = first_code<Element>(range, a.rows.map);
        return code_range<Element>{a.rows.map, low, (word)(last_code<Element>(range, a.rows.map) - low)};
    }
    TOPK_MEMBER global_list<Element> buffer(void) const {
        return global_list<Element>{a.candidates, part.of.first_tile * a.tile_capacity};
    }
    TOPK_MEMBER uint64_t capacity(void) const {
        return (uint64_t)(part.of.tiles * a.tile_capacity);
    }
    /* The next digit of the row. */
    TOPK_MEMBER key_digit<Element> digit(void) const {
        const bool is_open = state.range.low > 0 && (word)state.range.high == (word)(Element) ~(Element)0;
        return state.is_drawn != 0 && is_open && a.digits.bits >= key_digit<Element>::OCTAVE_BITS
                   ? key_digit<Element>::octaves(state.range, a.digits.bits)
                   : key_digit<Element>::even(state.range, a.digits.bits);
    }
    /* Adds one to a bin: of the block, or of the row, without the write buffer. */
    TOPK_MEMBER void count(uint32_t bin) const {
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

/* A digit is counted: the k-th is in `range`. One thread. */
template <typename Element, bool WHERE>
TOPK_DEVICE void end_digit(const part_task<Element, WHERE> &t, struct kth_range range, bool buffers) {
    struct radik_state *state = t.counters();
    state->range = range;
    state->is_drawn = 0;
    if (buffers)
        state->is_buffered = 1;
    if (!is_decided(t.a.digits, range))
        return;
    state->phase = t.a.target.kind == TARGET_KTH ? RADIK_DONE : RADIK_DECIDED;
    if (t.a.target.kind == TARGET_KTH)
        t.write_kth_class(range);
}

/* The k-th is not in the range that the digit was counted in, which has `total` elements: it is beyond it,
 * where there are `above`; or behind it; or fewer elements match than are wanted. One thread. */
template <typename Element, bool WHERE>
TOPK_DEVICE void leave_range(const part_task<Element, WHERE> &t, uint64_t above, uint64_t total) {
    struct kth_range range = t.state.range;
    struct radik_state *state = t.counters();
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
        state->matches = t.r.k - (int64_t)(range.need - above - total);
        if (t.a.matches != nullptr)
            t.a.matches[t.part.of.row] = state->matches;
        range.need = total;
        range.candidates = total;
    }
    end_digit(t, range, false);
}

/* Adds the block's bins to the row's, and leaves its own clear. The last block narrows the range by the
 * digit, and leaves the row's bins clear, too; returns whether this is that block. `buffers`: this pass has
 * filled the candidate buffer. All threads. */
template <typename Element, bool WHERE>
TOPK_DEVICE bool retire(const part_task<Element, WHERE> &t, const key_digit<Element> &digit, bool buffers) {
    const uint32_t count = 1u << t.a.digits.bits;
    uint64_t *bins = t.row_bins();
    struct radik_state *state = t.counters();
    const pass_memory<Element> &m = t.m;
    simt_block_sync();
    for (uint32_t bin = simt_thread(); bin < count; bin += simt_threads()) {
        const uint32_t here = m.digit.bins[bin];
        if (here != 0) {
            simt_atomic_add(&bins[bin], (uint64_t)here);
            m.digit.bins[bin] = 0;
        }
    }
    if (simt_thread() == 0 && (uint64_t)m.above[0] != 0) {
        simt_atomic_add(&state->above, (uint64_t)m.above[0]);
        m.above[0] = 0;
    }
    if (!last_of_part(t.part, &state->retired, m.flag))
        return false;
    const struct kth_range &range = t.state.range;
    const uint64_t above = t.state.is_drawn != 0 ? simt_load_relaxed(&state->above) : 0;
    uint64_t need = range.need - above; /* wraps if the k-th is above */
    uint64_t total = find_kth_bin(
        [&](uint32_t bin) TOPK_LAMBDA { return bins[bin]; }, count, above < range.need ? need : ~(uint64_t)0,
        m.digit.sums,
        [&](uint32_t bin, uint64_t better, uint64_t held) TOPK_LAMBDA {
            end_digit(t, kth_range{digit.first(bin), digit.last(bin), need - better, held}, buffers);
        });
    if (simt_thread() == 0 && (above >= range.need || total < need))
        leave_range(t, above, total);
    simt_block_sync();
    for (uint32_t bin = simt_thread(); bin < count; bin += simt_threads())
        bins[bin] = 0;
    if (simt_thread() == 0)
        simt_store_relaxed(&state->retired, 0u);
    return true;
}

#endif
