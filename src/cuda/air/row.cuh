/* SPDX-License-Identifier: Apache-2.0
 * All passes of a row in one block, for short rows and for many. Once the candidates fit, they stay in shared
 * memory: a row that fits from the start is read once. */
#ifndef TOPK_SRC_CUDA_AIR_ROW_CUH
#define TOPK_SRC_CUDA_AIR_ROW_CUH

#include "last.cuh"

/* Bins of a thread, of the fewest that a block may have. */
static const uint32_t ROW_BINS = AIR_BINS_MAX / AIR_ROW_THREADS_MIN;

/* Candidates on their way to shared memory. */
template <typename Element> struct resident_sink {
    const block_shared<Element> &s;

    TOPK_MEMBER uint64_t take(uint32_t count) const {
        return take_places(&s.counters[1], count);
    }
    TOPK_MEMBER void put(uint64_t place, key_word_t<Element> bits, int64_t position) const {
        s.bits[(uint32_t)place] = bits;
        s.positions[(uint32_t)place] = (uint32_t)position;
    }
    TOPK_MEMBER bool full(void) const {
        return false;
    }
    template <typename Winners> TOPK_MEMBER bool complete(const Winners &) const {
        return false;
    }
};

/* Results on their way to the entries that will be sorted, or out. */
template <typename Element, bool TWO> struct row_sink {
    const struct air_args &a;
    const block_shared<Element> &s;
    const entry_list<TWO> &entries;
    int64_t row;
    struct row r;
    uint32_t counter; /* of s.counters */
    uint64_t first, limit;
    bool is_full;

    TOPK_MEMBER uint64_t take(uint32_t count) {
        uint64_t place = take_places(&s.counters[counter], count);
        is_full = place + count >= limit;
        return place;
    }
    TOPK_MEMBER void put(uint64_t place, key_word_t<Element> bits, int64_t position) const {
        if (place >= limit)
            return;
        if (a.output == AIR_SORTED)
            entries.put((uint32_t)(first + place),
                        make_entry(TWO, key_of<Element>(bits, a.rows.map), position));
        else
            put_result<Element>(a, row, r, (int64_t)(first + place), bits, position);
    }
    TOPK_MEMBER bool full(void) const {
        return is_full;
    }
    template <typename Winners> TOPK_MEMBER bool complete(const Winners &winners) const {
        return is_full && winners.has_all();
    }
    TOPK_MEMBER bool has_all(void) const {
        uint64_t taken = simt_lane() == 0 ? simt_atomic_add(&s.counters[counter], (uint64_t)0) : 0;
        return simt_shuffle(SIMT_ALL_LANES, taken, 0) >= limit;
    }
};

template <typename Element, bool TWO>
TOPK_DEVICE row_sink<Element, TWO> winner_sink(const struct air_args &a, const block_shared<Element> &s,
                                               const entry_list<TWO> &entries, int64_t row,
                                               const struct row &r, uint64_t limit) {
    return row_sink<Element, TWO>{a, s, entries, row, r, 0, 0, limit, false};
}

/* Brings all elements of a short row into shared memory. */
template <typename Element>
TOPK_DEVICE void load_row(const struct air_args &a, const struct row &r, const block_shared<Element> &s) {
    const Element *values = row_values<Element>(a.rows, r);
    for (uint32_t i = simt_thread(); i < (uint32_t)r.length; i += simt_threads()) {
        s.bits[i] = simt_load_read_only(values + i);
        s.positions[i] = i;
    }
}

/* Brings the candidates into shared memory and writes what is above them. */
template <typename Element, bool TWO, typename Source>
TOPK_DEVICE void leave_row(const struct air_args &a, int64_t row, const struct row &r, const Source &source,
                           const block_shared<Element> &s, const entry_list<TWO> &entries,
                           struct progress *at) {
    if (!Source::WHERE && at->candidates == (uint64_t)r.length) {
        load_row(a, r, s);
    } else {
        hit_sinks<row_sink<Element, TWO>, resident_sink<Element>> sinks = {
            winner_sink(a, s, entries, row, r, (uint64_t)r.k - at->need), resident_sink<Element>{s}};
        filter_row<Element, true>(source, 0, 1, a.rows.map, range_of<Element>(at->low, at->high), sinks);
    }
    at->left = true;
    at->resident = (uint32_t)at->candidates;
    if (Source::WHERE) {
        simt_block_sync();
        at->resident = (uint32_t)(uint64_t)s.counters[1];
    }
}

/* Counts a digit of what is in range, in the input, and narrows the row by it; returns how many there are. */
template <typename Element, typename Source>
TOPK_DEVICE uint64_t count_and_narrow(const struct air_args &a, const struct row &r, const Source &source,
                                      struct digit digit, const block_shared<Element> &s,
                                      struct progress *at) {
    key_range<Element> range = range_of<Element>(at->low, at->high);
    simt_block_sync();
    clear_bins(s.bins, digit.mask + 1);
    if (Source::WHERE && simt_thread() == 0)
        s.bins[OTHER_BIN] = 0;
    simt_block_sync();
    if (at->candidates == (uint64_t)r.length)
        count_row<Element, true, true>(source, 0, 1, a.rows.map, range, digit, s.bins);
    else
        count_row<Element, false, true>(source, 0, 1, a.rows.map, range, digit, s.bins);
    return narrow<ROW_BINS, Source::WHERE>(a.rows.map, digit, s, at);
}

/* Narrows the row down, digit by digit. Where not all elements count, the first pass tells how many do; until
 * then all are candidates. */
template <typename Element, bool TWO, typename Source>
TOPK_DEVICE struct progress row_passes(const struct air_args &a, int64_t row, struct row *r,
                                       const Source &source, const block_shared<Element> &s,
                                       const entry_list<TWO> &entries) {
    uint32_t undecided = 8 * sizeof(Element);
    struct progress at = {0, all_codes(undecided), (uint64_t)r->k, (uint64_t)r->length, false, 0};
    bool counted = !Source::WHERE;
    while (undecided > 0 && !(counted && a.stop_early && at.need == at.candidates)) {
        if (at.candidates <= a.block_candidates && a.output != AIR_IN_ORDER) {
            leave_row(a, row, *r, source, s, entries, &at);
            if (!counted) {
                at.candidates = at.resident;
                at.need = at.need < at.candidates ? at.need : at.candidates;
                r->k = (int64_t)at.need;
            }
            if (!Source::WHERE || r->k > 0)
                resident_passes<ROW_BINS>(a, undecided, s, &at);
            break;
        }
        uint32_t bits = undecided < a.digit_bits ? undecided : a.digit_bits;
        undecided -= bits;
        uint64_t count = count_and_narrow(a, *r, source, digit{undecided, (1u << bits) - 1}, s, &at);
        if (!counted)
            r->k = r->k < (int64_t)count ? r->k : (int64_t)count;
        if (!counted && count == 0)
            break;
        counted = true;
    }
    return at;
}

/* ---- In the order of positions ---- */

template <typename Element, bool TWO, typename Tile>
TOPK_DEVICE void ordered_tile_of_row(const Tile &tile, key_range<Element> range,
                                     struct ordered_places *places, const row_sink<Element, TWO> &sink) {
    uint32_t counts[Tile::GROUPS];
    uint32_t any = count_hits<Element>(tile, sink.a.rows.map, range, counts);
    if (simt_block_count(any != 0) == 0)
        return;
    uint32_t total = rank_hits(sink.s.counts, counts);
    if (any != 0)
        put_in_order(tile, sink.a.rows.map, range, counts, *places, sink);
    places->winners += low_hits(total);
    places->ties += high_hits(total);
}

template <typename Element, bool TWO, typename Source>
TOPK_DEVICE void row_in_order(const struct row &r, const Source &source, const struct progress &at,
                              const row_sink<Element, TWO> &sink) {
    key_range<Element> range = range_of<Element>(at.low, at.high);
    struct ordered_places places = {0, 0, at.need};
    const uint64_t winners = (uint64_t)r.k - at.need;
    struct row_parts parts = parts_of(source.values(), source.r.length);
    int64_t tiles = tiles_of<Element>(parts);
    ordered_tile_of_row(source.head(parts), range, &places, sink);
    for (int64_t tile = 0; tile < tiles && (places.winners < winners || places.ties < at.need); tile++)
        ordered_tile_of_row(source.test(source.fetch(parts, tile)), range, &places, sink);
    ordered_tile_of_row(source.tail(parts), range, &places, sink);
}

/* ---- The row ---- */

/* Writes the results; returns how many entries there are to be sorted. */
template <typename Element, bool TWO, typename Source>
TOPK_DEVICE uint32_t row_last(const struct air_args &a, int64_t row, const struct row &r,
                              const Source &source, const block_shared<Element> &s,
                              const entry_list<TWO> &entries, const struct progress &at) {
    struct last_plan plan = plan_last(a, at.need, at.candidates, r);
    simt_block_sync();
    if (plan.in_order) {
        row_in_order(r, source, at, winner_sink(a, s, entries, row, r, (uint64_t)r.k));
        return (uint32_t)r.k;
    }
    typedef row_sink<Element, TWO> sink;
    hit_sinks<sink, sink> sinks = {winner_sink(a, s, entries, row, r, plan.winners),
                                   sink{a, s, entries, row, r, 2, plan.winners, plan.kept, false}};
    if (at.left)
        filter_resident(a, s, at, sinks);
    else
        filter_row<Element, true>(source, 0, 1, a.rows.map, range_of<Element>(at.low, at.high), sinks);
    return (uint32_t)(plan.winners + plan.kept);
}

template <typename Element, bool WHERE, bool TWO>
TOPK_DEVICE void select_row(const struct air_args &a, int64_t row, struct row r,
                            const matcher<Element, WHERE> &predicate, const block_shared<Element> &s,
                            const entry_list<TWO> &entries, const struct bucket_shared &buckets) {
    uint32_t count = 0;
    if (r.k > 0) {
        const row_source<Element, WHERE> source = source_of(a.rows, r, predicate);
        struct progress at = row_passes(a, row, &r, source, s, entries);
        if (a.output == AIR_KTH) {
            if (simt_thread() == 0)
                write_kth<Element>(a, row, at.low, r.k - (int64_t)at.need, (int64_t)at.candidates);
            return;
        }
        if (!WHERE || r.k > 0)
            count = row_last(a, row, r, source, s, entries, at);
    }
    if (WHERE && a.matches != nullptr && simt_thread() == 0)
        a.matches[row] = r.k;
    if (a.output == AIR_SORTED) {
        simt_block_sync();
        sort_row(entries, buckets, count, r.length);
        write_entries<Element>(a, row, r, entries);
    }
    if (a.output == AIR_DIRECT)
        for (int64_t slot = r.k + simt_thread(); slot < a.rows.k_max; slot += simt_threads())
            write_padding<Element>(a.rows, row, slot);
}

template <typename Element, bool WHERE, bool TWO>
TOPK_KERNEL TOPK_BOUNDS(AIR_ROW_THREADS_MAX, 1) void air_row(struct air_args a) {
    simt_arena arena = simt_shared_arena();
    block_shared<Element> s = carve_block<Element>(arena, 0, a.block_candidates);
    entry_list<TWO> entries = carve_entries<TWO>(arena, a.block_entries);
    struct bucket_shared buckets = carve_buckets(arena);
    buckets.words = s.bins;
    const matcher<Element, WHERE> predicate = matcher<Element, WHERE>::of(a.predicate);
    for (int64_t row = simt_block(); row < a.rows.rows; row += simt_blocks()) {
        struct row r = row_at(a.rows, row);
        if (predicate.none)
            r.k = 0;
        if (simt_thread() < 3)
            s.counters[simt_thread()] = 0;
        simt_block_sync();
        if (a.output == AIR_KTH && (r.k == 0 || r.wanted > r.length)) {
            if (simt_thread() == 0)
                write_kth_padding<Element>(a, row, r);
        } else {
            select_row(a, row, r, predicate, s, entries, buckets);
        }
        simt_block_sync();
    }
}

#endif
