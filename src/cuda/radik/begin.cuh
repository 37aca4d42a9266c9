/* SPDX-License-Identifier: Apache-2.0
 * The first launch of passes: it clears each row's state and bins, and draws a sample for its first digit.
 *
 * The paper subtracts one element that is drawn at random. Here a sample tells between which keys the k-th
 * lies, with a high probability: the first digit is counted from the lower one on. So few elements share a
 * bin with the k-th, whatever the scale of the data. If the sample misleads, the digit shows it, and the row
 * takes digits of the keys that are left. */
#ifndef TOPK_SRC_CUDA_RADIK_BEGIN_CUH
#define TOPK_SRC_CUDA_RADIK_BEGIN_CUH

#include "../predicate/source.cuh"
#include "../select/chance.cuh"
#include "digit.cuh"
#include "tasks.cuh"

/* Shared memory of a block. */
struct begin_memory {
    struct digit_memory digit;
    simt_shared<uint64_t> ends; /* the least and the greatest key of each warp's samples */
};

TOPK_HOST_DEVICE struct begin_memory carve_begin(simt_arena &arena, uint32_t bits) {
    struct begin_memory m;
    m.ends = simt_carve<uint64_t>(arena, 2 * SIMT_WARP);
    m.digit = carve_digits(arena, bits);
    return m;
}

/* A thread's part of a sample. */
template <typename Element> struct sampled_row {
    static const uint32_t PER = 16 / sizeof(Element), GROUPS = RADIK_SAMPLE_GROUPS, KEYS = GROUPS * PER;
    static_assert(KEYS <= 32, "a bit for each");
    key_word_t<Element> keys[KEYS]; /* elements that do not match have none */
    uint32_t valid;                 /* a bit for each */
};

/* Elements that all threads draw from a row; 0 if it is too short. */
template <typename Element> TOPK_DEVICE uint32_t size_of_sample(const struct row_parts &parts) {
    const uint32_t groups = RADIK_SAMPLE_GROUPS * simt_threads();
    return parts.groups >= (int64_t)RADIK_SAMPLED_MIN * groups ? groups * sampled_row<Element>::PER : 0;
}

template <typename Element>
TOPK_DEVICE bool is_sampled_match(const matcher<Element, false> &, key_word_t<Element>, int64_t) {
    return true;
}

template <typename Element>
TOPK_DEVICE bool is_sampled_match(const matcher<Element, true> &predicate, key_word_t<Element> bits,
                                  int64_t index) {
    return predicate.mask == nullptr ? predicate.in_arc(bits) : predicate.is_masked_in(index);
}

/* The thread's sample of a row: groups of 16 bytes, each from a stretch of its own of the row's body. */
template <typename Element, bool WHERE>
TOPK_DEVICE sampled_row<Element> draw(const struct radik_args &a, const struct row &r,
                                      const struct row_parts &parts,
                                      const matcher<Element, WHERE> &predicate) {
    typedef sampled_row<Element> sample;
    const Element *values = row_values<Element>(a.rows, r);
    const uint64_t stretches = sample::GROUPS * simt_threads();
    sample s = {};
    body_tile<Element> drawn[sample::GROUPS] = {};
#pragma unroll
    for (uint32_t g = 0; g < sample::GROUPS; g++) {
        const uint32_t stretch = g * simt_threads() + simt_thread();
        const int64_t begin = (int64_t)((uint64_t)parts.groups * stretch / stretches),
                      end = (int64_t)((uint64_t)parts.groups * (stretch + 1) / stretches);
        const uint32_t random = hash_of(stretch ^ (uint32_t)a.seed) ^ (uint32_t)(a.seed >> 32);
        const int64_t group = begin + (int64_t)((uint64_t)random * (uint64_t)(end - begin) >> 32);
        drawn[g].position0 = parts.head + group * sample::PER;
        drawn[g].raw[0] = simt_load16_read_only(values + drawn[g].position0);
    }
#pragma unroll
    for (uint32_t i = 0; i < sample::KEYS; i++) {
        const body_tile<Element> &group = drawn[i / sample::PER];
        const key_word_t<Element> bits = group.bits(0, i % sample::PER);
        s.keys[i] = key_of<Element>(bits, a.rows.map);
        s.valid |=
            is_sampled_match(predicate, bits, r.begin + group.position0 + i % sample::PER) ? 1u << i : 0;
    }
    return s;
}

/* The least and the greatest key of a sample that is not empty. All threads. */
template <typename Element>
TOPK_DEVICE struct kth_range ends_of_sample(const sampled_row<Element> &s, const struct begin_memory &m) {
    uint64_t least = ~(uint64_t)0, greatest = 0;
#pragma unroll
    for (uint32_t i = 0; i < sampled_row<Element>::KEYS; i++) {
        least = (s.valid >> i & 1) != 0 && s.keys[i] < least ? s.keys[i] : least;
        greatest = (s.valid >> i & 1) != 0 && s.keys[i] > greatest ? s.keys[i] : greatest;
    }
    least = simt_reduce_min(SIMT_ALL_LANES, least);
    greatest = simt_reduce_max(SIMT_ALL_LANES, greatest);
    if (simt_lane() == 0) {
        m.ends[simt_warp()] = least;
        m.ends[SIMT_WARP + simt_warp()] = greatest;
    }
    simt_block_sync();
    const bool exists = simt_lane() < simt_warps();
    least = exists ? (uint64_t)m.ends[simt_lane()] : ~(uint64_t)0;
    greatest = exists ? (uint64_t)m.ends[SIMT_WARP + simt_lane()] : 0;
    return kth_range{simt_reduce_min(SIMT_ALL_LANES, least), simt_reduce_max(SIMT_ALL_LANES, greatest), 0, 0};
}

/* The keys of a bin with the rank-th best of a sample, counted from 1, which holds few others unless they
 * tie. All threads, with clear bins. */
template <typename Element>
TOPK_DEVICE struct kth_range keys_at_rank(const struct radik_args &a, const sampled_row<Element> &s,
                                          struct kth_range range, uint32_t rank,
                                          const struct begin_memory &m) {
    typedef key_word_t<Element> word;
    range.need = rank;
    for (uint32_t round = 0; round < RADIK_SAMPLE_ROUNDS && range.low != range.high; round++) {
        const word low = (word)range.low, span = (word)(range.high - range.low);
        narrow_keys(key_digit<Element>::even(range, a.digits.bits), a.digits.bits, m.digit, &range,
                    [&](const auto &work) TOPK_LAMBDA {
#pragma unroll
                        for (uint32_t i = 0; i < sampled_row<Element>::KEYS; i++)
                            if ((s.valid >> i & 1) != 0 && s.keys[i] - low <= span)
                                work(s.keys[i]);
                    });
        if (range.candidates <= RADIK_SAMPLE_CROWD)
            break;
    }
    return range;
}

/* What is known of a row before its first digit. All threads, with clear bins; the result is the same in all.
 */
template <typename Element, bool WHERE>
TOPK_DEVICE struct radik_state draw_range(const struct radik_args &a, const struct row &r,
                                          const matcher<Element, WHERE> &predicate,
                                          const struct begin_memory &m) {
    struct radik_state state = {};
    state.range = whole_range<Element>((uint64_t)r.k, (uint64_t)r.length);
    state.matches = r.k;
    if (r.k == 0 || (a.target.kind == TARGET_KTH && r.wanted > r.length)) {
        state.phase = RADIK_DONE;
        return state;
    }
    if (!WHERE && is_decided(a.digits, state.range))
        state.phase = a.target.in_order ? RADIK_ORDERED : RADIK_DECIDED;
    if (!a.scales || state.phase != RADIK_OPEN)
        return state;
    const struct row_parts parts = parts_of(row_values<Element>(a.rows, r), r.length);
    const uint32_t drawn = size_of_sample<Element>(parts);
    if (drawn == 0)
        return state;
    const sampled_row<Element> s = draw(a, r, parts, predicate);
    uint64_t valid = drawn;
    if (WHERE)
        (void)block_scan(m.digit.sums, (uint64_t)simt_popc(s.valid), &valid);
    const float mean = simt_float_divide((float)drawn * (float)r.k, (float)r.length);
    const float deviation = RADIK_DEVIATIONS_OF_16 / 16.0f * root_of(mean) + RADIK_SAMPLES_BESIDES;
    const uint32_t below = (uint32_t)(mean + deviation) + 1;
    if (below > valid)
        return state;
    const struct kth_range ends = ends_of_sample(s, m);
    state.is_drawn = 1;
    state.range.low = keys_at_rank(a, s, ends, below, m).low;
    if (mean > deviation + 1.0f)
        state.range.high = keys_at_rank(a, s, ends, (uint32_t)(mean - deviation), m).high;
    return state;
}

/* Rows are dealt out to blocks one by one. */
template <typename Element, bool WHERE>
TOPK_KERNEL TOPK_BOUNDS(RADIK_THREADS, RADIK_BLOCKS_PER_SM) void radik_begin(struct radik_args a) {
    simt_arena arena = simt_shared_arena();
    const struct begin_memory m = carve_begin(arena, a.digits.bits);
    clear_bins(m.digit.bins, 1u << a.digits.bits);
    simt_wait_predecessor();
    if (a.has_successor)
        simt_allow_successor();
    if (is_called_off(a.rows))
        return;
    const matcher<Element, WHERE> predicate = matcher<Element, WHERE>::of(a.predicate);
    const struct all_tasks all = tasks_of<Element>(a);
    if (simt_block() == 0 && simt_thread() == 0)
        *a.tasks.finished = 0;
    simt_block_sync();
    for (int64_t i = simt_block(); i < all.rows; i += simt_blocks()) {
        if (i != simt_block())
            TOPK_REACHED(REACHED_RADIK_BEGIN_NEXT_ROW);
        const struct task_row of = task_row_at(a.tasks, all, i);
        uint64_t *bins = a.histograms + (of.state << a.digits.bits);
        for (uint32_t bin = simt_thread(); bin < 1u << a.digits.bits; bin += simt_threads())
            bins[bin] = 0;
        struct row r = row_at(a.rows, of.row);
        if (predicate.none)
            r.k = 0;
        const struct radik_state state = draw_range(a, r, predicate, m);
        if (simt_thread() == 0) {
            a.states[of.state] = state;
            if (a.matches != nullptr)
                a.matches[of.row] = state.matches;
            if (a.target.kind == TARGET_KTH && state.phase == RADIK_DONE)
                write_kth<Element>(a.kth, of.row, a.rows.padding, r.wanted == 0 ? 0 : r.length, 0);
        }
        simt_block_sync();
    }
}

#endif
