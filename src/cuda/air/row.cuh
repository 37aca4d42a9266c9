/* SPDX-License-Identifier: Apache-2.0
 * All passes of a row in one block, for short rows and for many. Once the candidates fit, they stay in shared
 * memory: a row that fits from the start is read once. */
#ifndef TOPK_SRC_CUDA_AIR_ROW_CUH
#define TOPK_SRC_CUDA_AIR_ROW_CUH

#include "../select/by_position.cuh"
#include "../select/ordered_filter.cuh"
#include "../select/small_sort.cuh"
#include "../select/sorted_results.cuh"
#include "state.cuh"

/* Bins of a thread, of the fewest that a block may have. */
static const uint32_t ROW_BINS = SELECT_BINS_MAX / AIR_ROW_THREADS_MIN;

/* Shared memory of a block with a row of its own. */
template <typename Element, bool TWO> struct row_shared {
    block_shared<Element> block;
    entry_list<TWO> entries;
    struct bucket_shared buckets;
};

template <typename Element, bool TWO>
TOPK_HOST_DEVICE row_shared<Element, TWO> carve_row(simt_arena &arena, uint32_t candidates,
                                                    uint32_t entries) {
    row_shared<Element, TWO> s;
    s.block = carve_block<Element>(arena, 0, candidates);
    s.entries = carve_entries<TWO>(arena, entries);
    s.buckets = carve_buckets(arena);
    s.buckets.words = s.block.digit.bins;
    return s;
}

/* How far a row is; the same in all threads. */
struct row_progress {
    struct kth_range range;
    bool is_resident;  /* the candidates are in shared memory, and the winners are written */
    uint32_t resident; /* candidates there */
};

/* Brings all elements of a short row into shared memory. */
template <typename Element>
TOPK_DEVICE void load_elements(const Element *values, int64_t length, const shared_list<Element> &to) {
    for (uint32_t i = simt_thread(); i < (uint32_t)length; i += simt_threads()) {
        to.elements[i] = simt_load_read_only(values + i);
        to.positions[i] = i;
    }
}

/* Brings the candidates into shared memory and writes what is above them. */
template <typename Element, bool TWO, typename Source>
TOPK_DEVICE void make_resident(const block_target<Element, TWO> &target, const Source &source,
                               const row_shared<Element, TWO> &s, struct row_progress *at) {
    const struct row &r = target.r;
    if (!Source::WHERE && at->range.candidates == (uint64_t)r.length) {
        load_elements(source.values(), r.length, s.block.candidates);
    } else {
        TOPK_REACHED(REACHED_AIR_ROW_LATE);
        hit_sinks sinks = {
            result_sink{target, &s.block.counters[WINNER_SLOTS], (uint64_t)0, (uint64_t)r.k - at->range.need},
            candidate_sink{s.block.candidates, &s.block.counters[CANDIDATE_SLOTS]}};
        filter_row<Element, true>(source, for_one_block(), code_range_of<Element>(target.rows.map, at->range),
                                  sinks);
    }
    at->is_resident = true;
    at->resident = (uint32_t)at->range.candidates;
    if (Source::WHERE) {
        simt_block_sync();
        at->resident = (uint32_t)(uint64_t)s.block.counters[CANDIDATE_SLOTS];
    }
}

/* Counts a digit of what is in range, in the input, and narrows the range by it; returns how many there are.
 */
template <typename Element, typename Source>
TOPK_DEVICE uint64_t count_and_narrow(const struct code_map &map, const Source &source, struct digit digit,
                                      const struct digit_shared &s, struct kth_range *range) {
    const code_range<Element> before = code_range_of<Element>(map, *range);
    const struct digit_counter counter = {digit, s.bins};
    simt_block_sync();
    clear_bins(s.bins, digit.mask + 1);
    if (Source::WHERE && simt_thread() == 0)
        s.bins[OTHER_BIN] = 0;
    simt_block_sync();
    if (range->candidates == (uint64_t)source.r.length)
        count_row<Element, true, true>(source, for_one_block(), before, counter);
    else
        count_row<Element, false, true>(source, for_one_block(), before, counter);
    return narrow<ROW_BINS, Source::WHERE>(map, digit, s, range);
}

/* Narrows the row down, digit by digit. Where not all elements count, the first pass tells how many do, which
 * limits target.r.k; until then all are candidates. */
template <typename Element, bool TWO, typename Source>
TOPK_DEVICE struct row_progress row_passes(const struct air_args &a, block_target<Element, TWO> &target,
                                           const Source &source, const row_shared<Element, TWO> &s) {
    struct row &r = target.r;
    uint32_t unknown = 8 * sizeof(Element);
    struct row_progress at = {whole_range<Element>((uint64_t)r.k, (uint64_t)r.length), false, 0};
    bool counted = !Source::WHERE;
    while (!(counted && is_decided(a.digits, at.range, unknown))) {
        if (at.range.candidates <= a.block_candidates && !a.target.in_order) {
            make_resident(target, source, s, &at);
            if (!counted) {
                at.range.candidates = at.resident;
                at.range.need = at.range.need < at.range.candidates ? at.range.need : at.range.candidates;
                r.k = (int64_t)at.range.need;
            }
            if (!Source::WHERE || r.k > 0)
                narrow_candidates<ROW_BINS>(s.block.candidates, at.resident, a.rows.map, a.digits, unknown,
                                            s.block.digit, &at.range);
            break;
        }
        if (unknown != 8 * sizeof(Element))
            TOPK_REACHED(REACHED_AIR_ROW_AGAIN);
        const struct digit digit = next_digit(a.digits, &unknown);
        uint64_t count = count_and_narrow<Element>(a.rows.map, source, digit, s.block.digit, &at.range);
        if (!counted)
            r.k = r.k < (int64_t)count ? r.k : (int64_t)count;
        if (!counted && count == 0)
            break;
        counted = true;
    }
    return at;
}

/* Writes the results; returns how many entries there are to be sorted. */
template <typename Element, bool TWO, typename Source>
TOPK_DEVICE uint32_t write_row(const block_target<Element, TWO> &target, const Source &source,
                               const row_shared<Element, TWO> &s, const struct row_progress &at) {
    const uint64_t k = (uint64_t)target.r.k;
    const code_range<Element> range = code_range_of<Element>(target.rows.map, at.range);
    const struct result_plan plan = plan_results(target.to, at.range, (int64_t)k);
    simt_block_sync();
    if (plan.in_order) {
        TOPK_REACHED(REACHED_AIR_ROW_IN_ORDER);
        struct running_prefixes prefixes = {{k - at.range.need, at.range.need}, s.block.scratch, {0, 0}, 0};
        filter_row_in_order(source, range, prefixes, target);
        return (uint32_t)k;
    }
    hit_sinks sinks = {result_sink{target, &s.block.counters[WINNER_SLOTS], (uint64_t)0, plan.winners},
                       result_sink{target, &s.block.counters[TIE_SLOTS], plan.winners, plan.ties}};
    if (at.is_resident) {
        filter_candidates(s.block.candidates, at.resident, for_one_block(), range, sinks);
    } else {
        TOPK_REACHED(REACHED_AIR_ROW_NEVER);
        filter_row<Element, true>(source, for_one_block(), range, sinks);
    }
    return (uint32_t)(plan.winners + plan.ties);
}

template <typename Element, bool WHERE, bool TWO>
TOPK_DEVICE void select_row(const struct air_args &a, int64_t row, const struct row &of,
                            const matcher<Element, WHERE> &predicate, const row_shared<Element, TWO> &s) {
    block_target<Element, TWO> target = {{a.rows, a.target, row, of, row}, s.entries};
    const struct row &r = target.r;
    uint32_t count = 0, winners = 0;
    if (r.k > 0) {
        const row_source<Element, WHERE> source = source_of(a.rows, r, predicate);
        const struct row_progress at = row_passes(a, target, source, s);
        if (a.target.kind == TARGET_KTH) {
            if (WHERE && simt_thread() == 0 && r.k < r.wanted)
                write_kth_padding<Element>(a, row, r, r.k);
            else if (simt_thread() == 0)
                write_kth_class<Element>(a, row, at.range, r.k);
            return;
        }
        if (!WHERE || r.k > 0)
            count = write_row(target, source, s, at);
        winners = (uint32_t)((uint64_t)r.k - at.range.need);
    }
    if (WHERE && a.matches != nullptr && simt_thread() == 0)
        a.matches[row] = r.k;
    if (a.target.kind == TARGET_ENTRIES) {
        simt_block_sync();
        if (a.target.by_position)
            keep_positions(s.entries, winners, count, (uint32_t)r.k, r.length);
        sort_entries(s.entries, s.buckets, count, r.length);
        write_entries<Element>(a.rows, row, r, s.entries);
    }
    if (a.target.kind == TARGET_OUTPUTS)
        pad_row<Element>(a.rows, row, r, for_one_block());
}

template <typename Element, bool WHERE, bool TWO>
TOPK_KERNEL TOPK_BOUNDS(AIR_ROW_THREADS_MAX, 1) void air_row(struct air_args a) {
    simt_arena arena = simt_shared_arena();
    const row_shared<Element, TWO> s = carve_row<Element, TWO>(arena, a.block_candidates, a.block_entries);
    if (is_called_off(a.rows))
        return;
    const matcher<Element, WHERE> predicate = matcher<Element, WHERE>::of(a.predicate);
    for (int64_t row = simt_block(); row < a.rows.rows; row += simt_blocks()) {
        struct row r = row_at(a.rows, row);
        if (row != simt_block())
            TOPK_REACHED(REACHED_AIR_ROW_NEXT);
        if (predicate.none)
            r.k = 0;
        if (simt_thread() < SLOT_COUNTERS)
            s.block.counters[simt_thread()] = 0;
        simt_block_sync();
        if (a.target.kind == TARGET_KTH && (r.k == 0 || (!WHERE && r.wanted > r.length))) {
            if (simt_thread() == 0)
                write_kth_padding<Element>(a, row, r, WHERE ? 0 : r.length);
        } else {
            select_row(a, row, r, predicate, s);
        }
        simt_block_sync();
    }
}

#endif
