/* SPDX-License-Identifier: Apache-2.0
 * A block with the candidates of a row in its shared memory. */
#ifndef TOPK_SRC_CUDA_AIR_RESIDENT_CUH
#define TOPK_SRC_CUDA_AIR_RESIDENT_CUH

#include "filter.cuh"

/* Shared memory of a block. */
template <typename Element> struct block_shared {
    simt_shared<uint32_t> bins;
    simt_shared<uint64_t> sums;     /* of scans */
    simt_shared<uint32_t> counts;   /* of scans */
    simt_shared<uint64_t> bases;    /* places that a tile has taken */
    simt_shared<uint64_t> told;     /* what one thread finds for all */
    simt_shared<uint64_t> counters; /* winners, candidates and ties written; atomic */
    simt_shared<uint32_t> flag;
    queue_memory<Element> winner_queue, candidate_queue; /* if it has any */
    simt_shared<key_word_t<Element>> bits;               /* candidates, */
    simt_shared<uint32_t> positions;                     /* and their positions */
};

template <typename Element>
TOPK_HOST_DEVICE block_shared<Element> carve_block(simt_arena &arena, uint32_t queues, uint32_t candidates) {
    block_shared<Element> s;
    s.sums = simt_carve<uint64_t>(arena, SIMT_WARP);
    s.bases = simt_carve<uint64_t>(arena, 2);
    s.told = simt_carve<uint64_t>(arena, 4);
    s.counters = simt_carve<uint64_t>(arena, 3);
    s.winner_queue = carve_queue<Element>(arena, queues);
    s.candidate_queue = carve_queue<Element>(arena, queues);
    s.bits = simt_carve<key_word_t<Element>>(arena, candidates);
    s.positions = simt_carve<uint32_t>(arena, candidates);
    s.counts = simt_carve<uint32_t>(arena, SIMT_WARP);
    s.flag = simt_carve<uint32_t>(arena, 1);
    s.bins = simt_carve<uint32_t>(arena, AIR_BINS_MAX + 1); /* and OTHER_BIN */
    return s;
}

/* Where a row stands; the same in all threads. */
struct progress {
    uint64_t low, high, need, candidates;
    bool left;         /* the candidates are in shared memory, and what is above them is written */
    uint32_t resident; /* candidates there, of the pass that put them there */
};

/* ---- What topk_kth writes ---- */

template <typename Element>
TOPK_DEVICE void write_kth_bits(const struct air_args &a, int64_t row, uint64_t bits, int64_t better,
                                int64_t equal) {
    if (a.rows.out_values != nullptr)
        ((Element *)a.rows.out_values)[row] = (Element)bits;
    if (a.better != nullptr)
        a.better[row] = better;
    if (a.equal != nullptr)
        a.equal[row] = equal;
}

template <typename Element>
TOPK_DEVICE void write_kth(const struct air_args &a, int64_t row, uint64_t code, int64_t better,
                           int64_t equal) {
    write_kth_bits<Element>(a, row, decode_key(a.decode, code), better, equal);
}

/* k is 0 or beyond the row's end. */
template <typename Element>
TOPK_DEVICE void write_kth_padding(const struct air_args &a, int64_t row, const struct row &r) {
    write_kth_bits<Element>(a, row, a.rows.padding, r.wanted == 0 ? 0 : r.length, 0);
}

/* ---- Tiles of candidates ---- */

template <typename Element> struct shared_tile {
    static const uint32_t PER = 1, GROUPS = 4;
    key_word_t<Element> element[GROUPS];
    uint32_t at[GROUPS];
    uint32_t count;

    TOPK_MEMBER bool valid(uint32_t group) const {
        return group < count;
    }
    TOPK_MEMBER key_word_t<Element> bits(uint32_t group, uint32_t) const {
        return element[group];
    }
    TOPK_MEMBER int64_t position(uint32_t group, uint32_t) const {
        return at[group];
    }
};

/* Candidates from place `first` on. */
template <typename Element>
TOPK_DEVICE shared_tile<Element> load_shared(const block_shared<Element> &s, uint32_t first, uint32_t count) {
    shared_tile<Element> t;
    t.count = 0;
#pragma unroll
    for (uint32_t g = 0; g < shared_tile<Element>::GROUPS; g++) {
        uint32_t i = first + g * simt_threads() + simt_thread();
        t.element[g] = i < count ? (key_word_t<Element>)s.bits[i] : 0;
        t.at[g] = i < count ? (uint32_t)s.positions[i] : 0;
        t.count += i < count;
    }
    return t;
}

/* ---- Passes ---- */

struct shared_bins {
    simt_shared<uint32_t> bins;

    TOPK_MEMBER uint64_t count(uint32_t bin) const {
        return (uint32_t)bins[bin];
    }
};

/* What one thread finds for all: told[0 .. 3] are low, high, need and candidates. */
struct tell_found {
    simt_shared<uint64_t> told;
    uint64_t low;
    uint32_t shift;

    TOPK_MEMBER void found(struct found_digit f) const {
        told[0] = low + ((uint64_t)f.digit << shift);
        told[1] = low + ((uint64_t)(f.digit + 1 + f.more) << shift) - 1;
        told[2] = f.need - f.better;
        told[3] = f.equal;
    }
};

/* Narrows the range by the digit that was counted; returns how many elements were. PER: bins of a thread at
 * most. LIMIT: as in find_digit(); if nothing was counted nothing is changed. All threads. */
template <uint32_t PER, bool LIMIT, typename Element>
TOPK_DEVICE uint64_t narrow(const struct code_map &map, struct digit digit, const block_shared<Element> &s,
                            struct progress *at) {
    simt_block_sync();
    uint32_t count = digit.mask + 1, zeros = bin_of_zeros(map, at->low, digit);
    struct tell_found tell = {s.told, at->low, digit.shift};
    uint64_t total;
    if (count <= 2 * simt_threads())
        total = find_digit<2, LIMIT>(shared_bins{s.bins}, count, zeros, at->need, s.sums, tell);
    else
        total = find_digit<PER, LIMIT>(shared_bins{s.bins}, count, zeros, at->need, s.sums, tell);
    simt_block_sync();
    if (LIMIT && total == 0)
        return 0;
    at->low = s.told[0];
    at->high = s.told[1];
    at->need = s.told[2];
    at->candidates = s.told[3];
    return total;
}

/* One more digit of candidates that are resident. */
template <uint32_t PER, typename Element>
TOPK_DEVICE void resident_pass(const struct air_args &a, struct digit digit, const block_shared<Element> &s,
                               struct progress *at) {
    key_range<Element> range = range_of<Element>(at->low, at->high);
    simt_block_sync();
    clear_bins(s.bins, digit.mask + 1);
    simt_block_sync();
    for (uint32_t first = 0; first < at->resident; first += simt_threads() * shared_tile<Element>::GROUPS)
        count_tile<Element, false>(load_shared(s, first, at->resident), a.rows.map, range, digit, s.bins);
    (void)narrow<PER, false>(a.rows.map, digit, s, at);
}

/* The digits below the lowest `undecided` bits, unless they are not needed. */
template <uint32_t PER, typename Element>
TOPK_DEVICE void resident_passes(const struct air_args &a, uint32_t undecided, const block_shared<Element> &s,
                                 struct progress *at) {
    while (undecided > 0 && !(a.stop_early && at->need == at->candidates)) {
        uint32_t bits = undecided < a.digit_bits ? undecided : a.digit_bits;
        undecided -= bits;
        resident_pass<PER>(a, digit{undecided, (1u << bits) - 1}, s, at);
    }
}

/* Filters the resident candidates. */
template <typename Element, typename Out>
TOPK_DEVICE void filter_resident(const struct air_args &a, const block_shared<Element> &s,
                                 const struct progress &at, Out &out) {
    key_range<Element> range = range_of<Element>(at.low, at.high);
    for (uint32_t first = 0; first < at.resident; first += simt_threads() * shared_tile<Element>::GROUPS)
        filter_tile<Element>(load_shared(s, first, at.resident), a.rows.map, range, out);
    drain(out);
}

/* ---- The last block's end of a shared row ---- */

/* The row's candidates are all in the buffer, and few. If that settles the row its results are written; what
 * has to go in the order of positions is left to the last filter. */
template <typename Element>
TOPK_DEVICE void finish_row(const struct air_args &a, int64_t row, const struct row &r,
                            const struct air_state &before, const block_shared<Element> &s) {
    struct air_state *state = &a.states[row];
    struct progress at = {before.low,        before.high, before.need,
                          before.candidates, true,        (uint32_t)before.candidates};
    for (uint32_t i = simt_thread(); i < at.resident; i += simt_threads()) {
        s.bits[i] = ((const Element *)a.candidates)[row * a.capacity + i];
        s.positions[i] = ((const uint32_t *)a.positions)[row * a.capacity + i];
    }
    resident_passes<AIR_BINS_MAX / AIR_THREADS>(a, a.shift + a.this_digit, s, &at);
    simt_block_sync();
    struct last_plan plan = plan_last(a, at.need, at.candidates, r);
    if (simt_thread() == 0) {
        state->low = at.low;
        state->high = at.high;
        state->need = at.need;
        state->candidates = at.candidates;
        state->phase = plan.in_order ? AIR_DECIDED : AIR_DONE;
        simt_store_relaxed(&state->retired, 0u);
        if (a.output == AIR_KTH)
            write_kth<Element>(a, row, at.low, r.k - (int64_t)at.need, (int64_t)at.candidates);
    }
    if (plan.in_order || a.output == AIR_KTH)
        return;
    typedef result_sink<Element, uint64_t *> sink;
    hit_sinks<sink, sink> sinks = {sink{a, row, r, &state->winners, 0, plan.winners, false, 0},
                                   sink{a, row, r, &state->ties, plan.winners, plan.kept, false, 0}};
    filter_resident(a, s, at, sinks);
}

#endif
