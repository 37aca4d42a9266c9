/* SPDX-License-Identifier: Apache-2.0
 * The last filter writes the results of rows whose digits are all known; then what one block can sort is
 * sorted. Where ties have to be taken in the order of positions, tiles wait for the counts of those before
 * them (lookback.cuh). */
#ifndef TOPK_SRC_CUDA_AIR_LAST_CUH
#define TOPK_SRC_CUDA_AIR_LAST_CUH

#include "pass.cuh"

template <typename Element>
TOPK_DEVICE void last_in_any_order(const struct air_args &a, int64_t row, const struct row &r,
                                   const struct air_state &state, const struct last_plan &plan,
                                   const block_shared<Element> &s) {
    typedef result_sink<Element, uint64_t *> sink;
    key_range<Element> range = range_of<Element>(state.low, state.high);
    struct air_state *counters = &a.states[row];
    hit_queues<Element, sink, sink> queues = {
        {sink{a, row, r, &counters->winners, 0, plan.winners, false, 0},
         sink{a, row, r, &counters->ties, plan.winners, plan.kept, false, 0}},
        {s.winner_queue, 0},
        {s.candidate_queue, 0}};
    if (state.left == 0) {
        filter_row(row_values<Element>(a.rows, r), r.length, simt_block(), simt_blocks(), a.rows.map, range,
                   queues);
        return;
    }
    int64_t count = (int64_t)state.buffered, tiles = buffer_tiles<Element>(count);
    for (int64_t tile = simt_block(); tile < tiles; tile += simt_blocks())
        filter_tile<Element>(load_buffer<Element>(a, row, tile, count, true), a.rows.map, range, queues);
    drain(queues);
}

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
    uint64_t *words = a.tile_words + 2 * sink.row * a.tiles;
    uint32_t any = count_hits<Element>(tile, a.rows.map, range, counts);
    uint32_t total = rank_hits(s.counts, counts);
    if (simt_warp() == 0) {
        uint64_t before = look_back(words, at, low_hits(total));
        uint64_t ties = look_back(words + a.tiles, at, high_hits(total));
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

template <typename Element>
TOPK_DEVICE void last_in_order(const struct air_args &a, int64_t row, const struct row &r,
                               const struct air_state &state, const block_shared<Element> &s) {
    key_range<Element> range = range_of<Element>(state.low, state.high);
    slot_sink<Element> sink = {a, row, r};
    uint64_t winners = (uint64_t)r.k - state.need;
    const Element *values = row_values<Element>(a.rows, r);
    struct row_parts parts = parts_of(values, r.length);
    int64_t tiles = tiles_of<Element>(parts);
    while (true) {
        int64_t at = take_tile(&a.states[row], s); /* the head is tile 0, the tail the last one */
        if (at < 0 || at > tiles + 1)
            return;
        if (at == 0)
            ordered_tile<Element>(load_head(values, parts), at, winners, state.need, range, sink, s);
        else if (at <= tiles)
            ordered_tile<Element>(load_body(values, parts, at - 1), at, winners, state.need, range, sink, s);
        else
            ordered_tile<Element>(load_tail(values, parts), at, winners, state.need, range, sink, s);
    }
}

template <typename Element>
TOPK_DEVICE void last_of_row(const struct air_args &a, int64_t row, const block_shared<Element> &s) {
    struct row r = row_at(a.rows, row);
    struct air_state state = read_state(&a.states[row]);
    if (state.phase != AIR_DONE) {
        struct last_plan plan = plan_last(a, state.need, state.candidates, r);
        if (plan.in_order)
            last_in_order<Element>(a, row, r, state, s);
        else
            last_in_any_order<Element>(a, row, r, state, plan, s);
    }
    if (a.output != AIR_DIRECT)
        return;
    int64_t step = (int64_t)simt_blocks() * simt_threads();
    for (int64_t slot = r.k + (int64_t)simt_block() * simt_threads() + simt_thread(); slot < a.rows.k_max;
         slot += step)
        write_padding<Element>(a.rows, row, slot);
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(AIR_THREADS, AIR_BLOCKS_PER_SM) void air_last(struct air_args a) {
    simt_arena arena = simt_shared_arena();
    block_shared<Element> s = carve_block<Element>(arena, AIR_THREADS / SIMT_WARP, 0);
    simt_wait_predecessor();
    simt_allow_successor();
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        last_of_row<Element>(a, row, s);
        simt_block_sync();
    }
}

/* ---- Sorting the results of a row ---- */

/* Result `slot` of a row from its entry. */
template <typename Element, bool TWO>
TOPK_DEVICE void write_entry(const struct air_args &a, int64_t row, const struct row &r, int64_t slot,
                             struct entry e) {
    int64_t position = entry_position(TWO, e);
    write_result<Element>(a.rows, row, r, slot, row_values<Element>(a.rows, r)[position], position);
}

/* Writes sorted entries and padding as a row's results. */
template <typename Element, bool TWO>
TOPK_DEVICE void write_entries(const struct air_args &a, int64_t row, const struct row &r,
                               const entry_list<TWO> &list) {
    for (int64_t slot = simt_thread(); slot < a.rows.k_max; slot += simt_threads()) {
        if (slot < r.k)
            write_entry<Element, TWO>(a, row, r, slot, list.get((uint32_t)slot));
        else
            write_padding<Element>(a.rows, row, slot);
    }
}

/* Loads a row's entries; returns how many there are. */
template <bool TWO>
TOPK_DEVICE uint32_t load_entries(const struct air_args &a, int64_t row, const struct row &r,
                                  const entry_list<TWO> &list) {
    const struct air_state *state = &a.states[row];
    struct last_plan plan = plan_last(a, state->need, state->candidates, r);
    uint32_t count = r.k == 0 ? 0 : (uint32_t)(plan.in_order ? (uint64_t)r.k : plan.winners + plan.kept);
#pragma unroll 8
    for (uint32_t i = simt_thread(); i < count; i += simt_threads())
        list.put(i, entry{a.entries[row * a.pitch + i], TWO ? a.entries_low[row * a.pitch + i] : 0});
    return count;
}

template <typename Element, bool TWO>
TOPK_KERNEL TOPK_BOUNDS(AIR_SORT_THREADS, 1) void air_sort(struct air_args a) {
    simt_arena arena = simt_shared_arena();
    entry_list<TWO> list = carve_entries<TWO>(arena, a.block_entries);
    simt_wait_predecessor();
    for (int64_t row = simt_block(); row < a.rows.rows; row += simt_blocks()) {
        struct row r = row_at(a.rows, row);
        uint32_t count = load_entries(a, row, r, list), size = sorted_size(count);
        fill_up(list, count, size);
        simt_block_sync();
        sort_entries(list, size);
        write_entries<Element>(a, row, r, list);
        simt_block_sync();
    }
}

/* For few rows: several blocks share the entries of one. An entry's slot is how many are before it, which a
 * warp counts. */
template <typename Element, bool TWO>
TOPK_KERNEL TOPK_BOUNDS(AIR_RANK_THREADS, 1) void air_rank(struct air_args a) {
    simt_arena arena = simt_shared_arena();
    entry_list<TWO> list = carve_entries<TWO>(arena, a.block_entries);
    simt_wait_predecessor();
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        struct row r = row_at(a.rows, row);
        uint32_t count = load_entries(a, row, r, list), warps = simt_blocks() * simt_warps();
        simt_block_sync();
        for (uint32_t i = simt_block() * simt_warps() + simt_warp(); i < count; i += warps) {
            struct entry e = list.get(i);
            uint32_t before = 0;
            for (uint32_t other = simt_lane(); other < count; other += SIMT_WARP)
                before += is_before(list.get(other), e);
            before = simt_reduce_add(SIMT_ALL_LANES, before);
            if (simt_lane() == 0 && before < r.k)
                write_entry<Element, TWO>(a, row, r, before, e);
        }
        int64_t step = (int64_t)simt_blocks() * simt_threads();
        for (int64_t slot = r.k + (int64_t)simt_block() * simt_threads() + simt_thread(); slot < a.rows.k_max;
             slot += step)
            write_padding<Element>(a.rows, row, slot);
        simt_block_sync();
    }
}

#endif
