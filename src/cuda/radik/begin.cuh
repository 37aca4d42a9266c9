/* SPDX-License-Identifier: Apache-2.0
 * The first launch clears what is known of each row, and draws where its first digit begins.
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

/* A sample, or a thread's part of it. */
template <typename Element> struct sampled_row {
    static const uint32_t PER = 16 / sizeof(Element), MOST = RADIK_SAMPLE_GROUPS_MAX,
                          USUAL = RADIK_SAMPLE_GROUPS, GROUPS = MOST * PER < 32 ? MOST : 32 / PER,
                          KEYS = GROUPS * PER;
    key_word_t<Element> keys[KEYS]; /* of the thread; elements that do not match have none */
    uint32_t valid;                 /* a bit for each */
    uint32_t drawn;                 /* by all threads, matching or not */
};

/* Groups that each thread draws; 0 if the row is too short. */
template <typename Element> TOPK_DEVICE uint32_t groups_of_sample(int64_t groups) {
    typedef sampled_row<Element> sample;
    const bool is_long = groups >= RADIK_LONG_ROW * (int64_t)sizeof(Element) / 16;
    const uint32_t count = is_long || sample::GROUPS < sample::USUAL ? sample::GROUPS : sample::USUAL;
    return groups >= (int64_t)RADIK_SAMPLED_MIN * count * simt_threads() ? count : 0;
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
                                      const matcher<Element, WHERE> &predicate) {
    typedef sampled_row<Element> sample;
    const Element *values = row_values<Element>(a.rows, r);
    const struct row_parts parts = parts_of(values, r.length);
    const uint32_t groups = groups_of_sample<Element>(parts.groups);
    sample s = {};
    body_tile<Element> drawn[sample::GROUPS] = {};
    s.drawn = groups * simt_threads() * sample::PER;
#pragma unroll
    for (uint32_t g = 0; g < sample::GROUPS; g++) {
        if (g >= groups)
            break;
        const uint64_t piece = g * simt_threads() + simt_thread(), pieces = groups * simt_threads();
        const int64_t begin = (int64_t)((uint64_t)parts.groups * piece / pieces),
                      end = (int64_t)((uint64_t)parts.groups * (piece + 1) / pieces);
        const uint32_t random = hash_of((uint32_t)piece ^ (uint32_t)a.seed) ^ (uint32_t)(a.seed >> 32);
        const int64_t group = begin + (int64_t)((uint64_t)random * (uint64_t)(end - begin) >> 32);
        drawn[g].position0 = parts.head + group * sample::PER;
        drawn[g].raw[0] = simt_load16_read_only(values + drawn[g].position0);
    }
#pragma unroll
    for (uint32_t g = 0; g < sample::GROUPS; g++) {
        if (g >= groups)
            break;
#pragma unroll
        for (uint32_t e = 0; e < sample::PER; e++) {
            const key_word_t<Element> bits = drawn[g].bits(0, e);
            s.keys[g * sample::PER + e] = key_of<Element>(bits, a.rows.map);
            if (is_sampled_match(predicate, bits, r.begin + drawn[g].position0 + e))
                s.valid |= 1u << (g * sample::PER + e);
        }
    }
    return s;
}

/* The keys of a bin with the rank-th best of a sample, counted from 1, which holds few others unless they
 * tie. All threads, with clear bins. */
template <typename Element>
TOPK_DEVICE struct kth_range keys_at_rank(const struct radik_args &a, const sampled_row<Element> &s,
                                          uint32_t rank, const struct digit_memory &m) {
    typedef key_word_t<Element> word;
    struct kth_range range = whole_range<Element>(rank, s.drawn);
    for (uint32_t round = 0; round < RADIK_SAMPLE_ROUNDS && range.low != range.high; round++) {
        const word low = (word)range.low, span = (word)(range.high - range.low);
        narrow_keys(key_digit<Element>::even(range, a.digits.bits), a.digits.bits, m, &range,
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
                                          const struct digit_memory &m) {
    struct radik_state state = {};
    state.range = whole_range<Element>((uint64_t)r.k, (uint64_t)r.length);
    state.matches = r.k;
    if (r.k == 0 || (a.target.kind == TARGET_KTH && r.wanted > r.length)) {
        state.phase = RADIK_DONE;
        return state;
    }
    if (!WHERE && is_decided(a.digits, state.range))
        state.phase = RADIK_DECIDED;
    if (!a.scales || state.phase == RADIK_DECIDED)
        return state;
    const sampled_row<Element> s = draw(a, r, predicate);
    if (s.drawn == 0)
        return state;
    uint64_t valid = s.drawn;
    if (WHERE)
        (void)block_scan(m.sums, (uint64_t)simt_popc(s.valid), &valid);
    const float mean = simt_float_divide((float)s.drawn * (float)r.k, (float)r.length);
    const float deviation = RADIK_DEVIATIONS_OF_16 / 16.0f * root_of(mean) + RADIK_SAMPLES_BESIDES;
    const uint32_t below = (uint32_t)(mean + deviation) + 1;
    if (below <= valid) {
        state.range.low = keys_at_rank(a, s, below, m).low;
        state.is_drawn = 1;
    }
    if (mean > deviation + 1.0f && (uint32_t)(mean - deviation) <= valid) {
        state.range.high = keys_at_rank(a, s, (uint32_t)(mean - deviation), m).high;
        state.is_drawn = 1;
    }
    return state;
}

/* Rows are dealt out to blocks one by one. */
template <typename Element, bool WHERE>
TOPK_KERNEL TOPK_BOUNDS(RADIK_THREADS, RADIK_BLOCKS_PER_SM) void radik_begin(struct radik_args a) {
    simt_arena arena = simt_shared_arena();
    const struct digit_memory m = carve_digits(arena, a.digits.bits);
    clear_bins(m.bins, 1u << a.digits.bits);
    simt_wait_predecessor();
    if (a.has_successor)
        simt_allow_successor();
    if (is_called_off(a.rows))
        return;
    const matcher<Element, WHERE> predicate = matcher<Element, WHERE>::of(a.predicate);
    const struct all_tasks all = tasks_of<Element>(a);
    simt_block_sync();
    for (int64_t i = simt_block(); i < all.rows; i += simt_blocks()) {
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
