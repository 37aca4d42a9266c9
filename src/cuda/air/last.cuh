/* SPDX-License-Identifier: Apache-2.0
 * The last filter writes the results of rows whose digits are all known; then what one block can sort is
 * sorted. Where ties have to be taken in the order of positions, tiles wait for the counts of those before
 * them (lookback.cuh). */
#ifndef TOPK_SRC_CUDA_AIR_LAST_CUH
#define TOPK_SRC_CUDA_AIR_LAST_CUH

#include "buckets.cuh"
#include "pass.cuh"

/* ---- In the order of positions ---- */

template <typename Element> struct slot_sink {
    const struct air_args &a;
    int64_t row;
    struct row r;

    TOPK_MEMBER void put(uint64_t slot, key_word_t<Element> bits, int64_t position) const {
        put_result<Element>(a, row, r, (int64_t)slot, bits, position);
    }
};

template <typename Element, typename Tile>
TOPK_DEVICE void ordered_tile(const Tile &tile, int64_t at, uint64_t winners, uint64_t need,
                              key_range<Element> range, const slot_sink<Element> &sink,
                              const block_shared<Element> &s) {
    const struct air_args &a = sink.a;
    uint32_t counts[Tile::GROUPS];
    uint64_t *words = a.tile_words + 2 * sink.row * a.sum_words;
    const struct sum_words winner_sums = sum_words_of(words, a.tiles),
                           tie_sums = sum_words_of(words + a.sum_words, a.tiles);
    uint32_t any = count_hits<Element>(tile, a.rows.map, range, counts);
    uint32_t total = rank_hits(s.counts, counts);
    if (simt_warp() == 0) {
        if (simt_lane() == 0) {
            publish_sum(winner_sums, at, low_hits(total));
            publish_sum(tie_sums, at, high_hits(total));
        }
        uint64_t before = look_back(winner_sums, at, low_hits(total), look_ahead(winner_sums, at));
        uint64_t ties = look_back(tie_sums, at, high_hits(total), look_ahead(tie_sums, at));
        if (simt_lane() == 0) {
            s.bases[0] = before;
            s.bases[1] = ties;
            if (before >= winners && ties >= need)
                simt_store_relaxed(&a.states[sink.row].finished, (uint64_t)1);
        }
    }
    simt_block_sync();
    if (any != 0)
        put_in_order(tile, a.rows.map, range, counts, ordered_places{s.bases[0], s.bases[1], need}, sink);
}

/* The number of the next tile, or -1 if the rest need not be read. Who takes a number also publishes its
 * counts, since others may wait for them. All threads. */
template <typename Element>
TOPK_DEVICE int64_t take_tile(struct air_state *state, const block_shared<Element> &s) {
    simt_block_sync();
    if (simt_thread() == 0)
        s.bases[0] = simt_load_relaxed(&state->finished) != 0 ? ~(uint64_t)0
                                                              : simt_atomic_add(&state->next, (uint64_t)1);
    simt_block_sync();
    int64_t tile = (int64_t)(uint64_t)s.bases[0];
    simt_block_sync();
    return tile;
}

template <typename Element, typename Source>
TOPK_DEVICE void last_in_order(const struct air_args &a, int64_t row, const struct row &r,
                               const Source &source, const struct air_state &state,
                               const block_shared<Element> &s) {
    key_range<Element> range = range_of<Element>(state.low, state.high);
    slot_sink<Element> sink = {a, row, r};
    uint64_t winners = (uint64_t)r.k - state.need;
    struct row_parts parts = parts_of(source.values(), source.r.length);
    int64_t tiles = tiles_of<Element>(parts);
    while (true) {
        int64_t at = take_tile(&a.states[row], s); /* the head is tile 0, the tail the last one */
        if (at < 0 || at > tiles + 1)
            return;
        if (at == 0)
            ordered_tile<Element>(source.head(parts), at, winners, state.need, range, sink, s);
        else if (at <= tiles)
            ordered_tile<Element>(source.test(source.fetch(parts, at - 1)), at, winners, state.need, range,
                                  sink, s);
        else
            ordered_tile<Element>(source.tail(parts), at, winners, state.need, range, sink, s);
    }
}

template <typename Element, bool WHERE>
TOPK_DEVICE void last_of_row(const struct air_args &a, int64_t row, const matcher<Element, WHERE> &predicate,
                             const block_shared<Element> &s) {
    struct row r = counted_row<WHERE>(a, row);
    struct air_state state = read_state(&a.states[row]);
    if (state.phase != AIR_DONE) {
        const row_source<Element, WHERE> source = source_of(a.rows, r, predicate);
        struct last_plan plan = plan_last_of_shared(a, state, r);
        if (plan.in_order)
            last_in_order(a, row, r, source, state, s);
        else
            last_in_any_order(a, row, r, source, all_blocks(), state, plan, s);
    }
    if (a.output == AIR_DIRECT)
        pad_row<Element>(a, row, r);
}

template <typename Element, bool WHERE>
TOPK_KERNEL TOPK_BOUNDS(AIR_THREADS, AIR_BLOCKS_PER_SM) void air_last(struct air_args a) {
    simt_arena arena = simt_shared_arena();
    block_shared<Element> s = carve_block<Element>(arena, AIR_THREADS / SIMT_WARP, 0);
    simt_wait_predecessor();
    if (a.has_successor)
        simt_allow_successor();
    const matcher<Element, WHERE> predicate = matcher<Element, WHERE>::of(a.predicate);
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        last_of_row(a, row, predicate, s);
        simt_block_sync();
    }
}

/* ---- Sorting the results of a row ---- */

/* Loads that one thread has in flight. */
enum { SORT_BATCH = 8, RESULT_BATCH = 4 };

/* Writes sorted entries and padding as a row's results. */
template <typename Element, bool TWO>
TOPK_DEVICE void write_entries(const struct air_args &a, int64_t row, const struct row &r,
                               const entry_list<TWO> &list) {
    const Element *values = row_values<Element>(a.rows, r);
    const uint32_t all = (uint32_t)a.rows.k_max, count = (uint32_t)r.k;
    for (uint32_t first = simt_thread(); first < all; first += RESULT_BATCH * simt_threads()) {
        Element elements[RESULT_BATCH] = {};
#pragma unroll
        for (uint32_t j = 0; j < RESULT_BATCH; j++) {
            uint32_t slot = first + j * simt_threads();
            if (slot < count)
                elements[j] = values[entry_position(TWO, list.get(slot))];
        }
#pragma unroll
        for (uint32_t j = 0; j < RESULT_BATCH; j++) {
            uint32_t slot = first + j * simt_threads();
            if (slot < count)
                write_result<Element>(a.rows, row, r, slot, elements[j], entry_position(TWO, list.get(slot)));
            else if (slot < all)
                write_padding<Element>(a.rows, row, slot);
        }
    }
}

template <bool TWO>
TOPK_DEVICE void load_range(const struct air_args &a, int64_t row, uint32_t begin, uint32_t end,
                            const entry_list<TWO> &list) {
    for (uint32_t first = begin + simt_thread(); first < end; first += SORT_BATCH * simt_threads()) {
        struct entry loaded[SORT_BATCH] = {};
#pragma unroll
        for (uint32_t j = 0; j < SORT_BATCH; j++) {
            uint32_t i = first + j * simt_threads();
            if (i < end)
                loaded[j] = entry{a.entries[row * a.pitch + i], TWO ? a.entries_low[row * a.pitch + i] : 0};
        }
#pragma unroll
        for (uint32_t j = 0; j < SORT_BATCH; j++)
            if (first + j * simt_threads() < end)
                list.put(first + j * simt_threads(), loaded[j]);
    }
}

/* Loads a row's entries; returns how many there are: r.k, or some more that tie. */
template <bool TWO>
TOPK_DEVICE uint32_t load_entries(const struct air_args &a, int64_t row, const struct row &r,
                                  const entry_list<TWO> &list) {
    const uint64_t need = a.states[row].need, candidates = a.states[row].candidates;
    load_range(a, row, 0, (uint32_t)r.k, list);
    struct last_plan plan = plan_last(a, need, candidates, r);
    if (r.k == 0 || plan.in_order)
        return (uint32_t)r.k;
    uint32_t count = (uint32_t)(plan.winners + plan.kept);
    load_range(a, row, (uint32_t)r.k, count, list);
    return count;
}

/* Shared memory of air_sort. Entries of two words leave no room for buckets on every GPU. */
template <bool TWO> struct sort_shared {
    entry_list<TWO> list;
    struct bucket_shared buckets;
};

template <bool TWO> TOPK_HOST_DEVICE struct sort_shared<TWO> carve_sort(simt_arena &arena, uint32_t entries) {
    struct sort_shared<TWO> s = {};
    s.list = carve_entries<TWO>(arena, entries);
    if (!TWO) {
        s.buckets = carve_buckets(arena);
        s.buckets.words = simt_carve<uint32_t>(arena, AIR_BINS_MAX);
    }
    return s;
}

template <typename Element, bool TWO>
TOPK_KERNEL TOPK_BOUNDS(AIR_SORT_THREADS, 1) void air_sort(struct air_args a) {
    simt_arena arena = simt_shared_arena();
    struct sort_shared<TWO> s = carve_sort<TWO>(arena, a.block_entries);
    simt_wait_predecessor();
    for (int64_t row = simt_block(); row < a.rows.rows; row += simt_blocks()) {
        struct row r = counted_row(a, row);
        uint32_t count = load_entries(a, row, r, s.list);
        simt_block_sync();
        if (TWO)
            sort_by_merging(s.list, count);
        else
            sort_row(s.list, s.buckets, count, r.length);
        write_entries<Element>(a, row, r, s.list);
        simt_block_sync();
    }
}

/* Entries that a warp ranks together. */
enum { RANKED = 2 };

/* How many entries are before each of these, in 16 bits for each. All lanes. */
template <bool TWO>
TOPK_DEVICE uint32_t rank_entries(const entry_list<TWO> &list, uint32_t count,
                                  const struct entry (&ranked)[RANKED]) {
    static_assert(RANKED == 2 && AIR_SORT_MAX + AIR_TIES_KEPT < 1 << 16, "both ranks fit one word");
    uint32_t before = 0;
#pragma unroll 4
    for (uint32_t i = simt_lane(); i < count; i += SIMT_WARP) {
        struct entry other = list.get(i);
        before += is_before(other, ranked[0]) ? 1u : 0;
        before += is_before(other, ranked[1]) ? 1u << 16 : 0;
    }
    return simt_reduce_add(SIMT_ALL_LANES, before);
}

/* For few rows: several blocks share the entries of one. An entry's slot is how many are before it, which a
 * warp counts. */
template <typename Element, bool TWO>
TOPK_KERNEL TOPK_BOUNDS(AIR_RANK_THREADS, 1) void air_rank(struct air_args a) {
    simt_arena arena = simt_shared_arena();
    entry_list<TWO> list = carve_entries<TWO>(arena, a.block_entries);
    simt_wait_predecessor();
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        struct row r = counted_row(a, row);
        uint32_t count = load_entries(a, row, r, list), warps = simt_blocks() * simt_warps();
        simt_block_sync();
        for (uint32_t i = RANKED * (simt_block() * simt_warps() + simt_warp()); i < count;
             i += RANKED * warps) {
            const struct entry ranked[RANKED] = {list.get(i), list.get(i + 1 < count ? i + 1 : i)};
            uint32_t mine = simt_lane() % RANKED,
                     before = rank_entries(list, count, ranked) >> mine * 16 & 0xffff;
            if (simt_lane() < RANKED && i + mine < count && before < r.k) {
                int64_t position = entry_position(TWO, mine == 0 ? ranked[0] : ranked[1]);
                write_result<Element>(a.rows, row, r, before, row_values<Element>(a.rows, r)[position],
                                      position);
            }
        }
        pad_row<Element>(a, row, r);
        simt_block_sync();
    }
}

#endif
