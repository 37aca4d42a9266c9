/* SPDX-License-Identifier: Apache-2.0
 * The kernel: each block selects from its tiles of a row; the last of a row's blocks selects from what all
 * of them have found. */
#ifndef TOPK_SRC_CUDA_GRIDSELECT_ROW_CUH
#define TOPK_SRC_CUDA_GRIDSELECT_ROW_CUH

#include "part.cuh"

/* ---- What a block has found ---- */

/* Takes slots for `count` entries that the block sends. Returns the first. All threads; one barrier. */
template <bool TWO>
TOPK_DEVICE int64_t take_slots(const struct gridselect_args &a, int64_t row, uint32_t count,
                               const selection_memory<TWO> &m) {
    if (simt_thread() == 0)
        m.word[0] = simt_atomic_add(&a.shared.sent[row], count);
    simt_block_sync();
    return row * simt_blocks() * a.capacity + (uint32_t)m.word[0];
}

/* Puts an entry of that rank in its block where the last block finds it. */
template <bool TWO>
TOPK_DEVICE void send_entry(const struct gridselect_args &a, int64_t row, int64_t slot, uint32_t rank,
                            uint32_t k, const struct entry &e) {
    a.shared.entries[slot] = e.high;
    if (TWO)
        a.shared.entries_low[slot] = e.low;
    if (rank == k - 1)
        simt_atomic_max(&a.shared.bounds[row], ~e.high);
    if (rank == a.part - 1)
        simt_store_relaxed(&a.shared.parts[row * simt_blocks() + simt_block()], ~e.high);
}

/* Puts the best of the block's lists into the outputs, if they are the row's, and pads these; otherwise it
 * sends them to the last block. A function of its own, called for both. All threads; one barrier before. */
template <typename Element, bool TWO>
TOPK_NOINLINE void put_best(const struct gridselect_args &a, int64_t row, struct warp_state state,
                            bool are_results) {
    const warp_selection<TWO> s(a, state);
    const struct row r = row_at(a.rows, row);
    const Element *values = row_values<Element>(a.rows, r);
    const uint32_t count = count_block(s.memory, s.list, s.k);
    const int64_t first = are_results ? 0 : take_slots(a, row, count, s.memory);
    rank_counted(s.memory, s.list, s.k, a.capacity, [&](uint32_t rank, const struct entry &e) TOPK_LAMBDA {
        const int64_t position = entry_position(TWO, e);
        if (are_results)
            write_result<Element>(a.rows, row, r, rank, values[position], position);
        else
            send_entry<TWO>(a, row, first + rank, rank, s.k, e);
    });
    if (are_results)
        pad_from<Element>(a.rows, row, count + simt_thread(), simt_threads());
}

/* ---- What the blocks of a row have found ---- */

/* Whether this is the last of the row's blocks; then it sees what all have sent. All threads. */
template <bool TWO>
TOPK_DEVICE bool is_last(const struct gridselect_args &a, int64_t row, const selection_memory<TWO> &m) {
    simt_block_sync();
    if (simt_thread() == 0)
        m.word[0] = simt_atomic_ticket(&a.shared.tickets[row]) == simt_blocks() - 1;
    simt_block_sync();
    return m.word[0] != 0;
}

/* Begins a selection from what all blocks have sent. All threads. */
template <bool TWO>
TOPK_DEVICE void begin_last(const struct gridselect_args &a, int64_t row, warp_selection<TWO> *s) {
    s->begin(a.capacity, s->k, behind<TWO>(known_bound(a, row)));
    const uint64_t bound = a.part > 0 ? bound_of_parts<TWO>(a, row, s->k, 0) : ~(uint64_t)0;
    simt_block_sync();
    if (bound != ~(uint64_t)0)
        simt_atomic_min(&s->memory.bound[0], behind<TWO>(bound).high);
    simt_block_sync();
    s->tighten_by_block();
}

/* Selects from what all blocks have sent, some entries for each thread at a time. All threads. */
template <bool TWO>
TOPK_DEVICE void select_sent(const struct gridselect_args &a, int64_t row, warp_selection<TWO> *s) {
    const uint32_t AT_ONCE = GRIDSELECT_SENT_AT_ONCE;
    const int64_t at = row * simt_blocks() * a.capacity;
    const uint32_t sent = simt_load_relaxed(&a.shared.sent[row]);
#pragma unroll 1
    for (uint32_t first = 0; first < sent; first += AT_ONCE * simt_threads()) {
        struct entry entries[AT_ONCE];
#pragma unroll
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            const uint32_t slot = first + i * simt_threads() + simt_thread();
            entries[i] = no_entry<TWO>();
            if (slot < sent)
                entries[i] = entry{a.shared.entries[at + slot], TWO ? a.shared.entries_low[at + slot] : 0};
        }
#pragma unroll 1
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            s->push(true, entries[0]);
#pragma unroll
            for (uint32_t next = 1; next < AT_ONCE; next++)
                entries[next - 1] = entries[next];
        }
        s->tighten_by_block();
    }
    s->merge_queue();
}

/* What the blocks of a row do when each has read its part: they send what they have found, and the last one
 * writes the row. A function of its own: the loop that reads has the registers. All threads. */
template <typename Element, bool TWO>
TOPK_NOINLINE void join_parts(const struct gridselect_args &a, int64_t row, struct warp_state state) {
    warp_selection<TWO> s(a, state);
    if (simt_warp() == 0)
        s.tell_block(known_bound(a, row));
    simt_block_sync();
    put_best<Element, TWO>(a, row, state, false);
    if (!is_last(a, row, s.memory))
        return;
    TOPK_REACHED(REACHED_GRIDSELECT_LAST);
    begin_last(a, row, &s);
    select_sent(a, row, &s);
    simt_block_sync();
    put_best<Element, TWO>(a, row, s.state(), true);
}

/* ---- Rows ---- */

template <typename Element, bool TWO>
TOPK_DEVICE void select_row(const struct gridselect_args &a, int64_t row, part_reader<Element> *reader,
                            warp_selection<TWO> *s) {
    select_part<Element, TWO>(a, row, reader, s);
    if (simt_blocks() > 1) {
        join_parts<Element, TWO>(a, row, s->state());
    } else {
        simt_block_sync();
        put_best<Element, TWO>(a, row, s->state(), true);
    }
}

/* A row without results. */
template <typename Element> TOPK_DEVICE void pad_row(const struct row_args &a, int64_t row) {
    if (simt_block() == 0)
        pad_from<Element>(a, row, simt_thread(), simt_threads());
}

template <typename Element, bool TWO> TOPK_DEVICE void select_rows(const struct gridselect_args &a) {
    const typename tile_ring<Element>::rings rings = rings_of<Element, TWO>(a);
    struct ring_turns turns = {0, 0};
    warp_selection<TWO> s(a);
    rings.make();
#pragma unroll 1
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        const struct row r = row_at(a.rows, row);
        if (r.k == 0 || none_matches<Element>(a.predicate)) {
            pad_row<Element>(a.rows, row);
            continue;
        }
        part_reader<Element> reader = part_reader<Element>::of(a, r, rings, turns);
        reader.begin();
        if (row != simt_block_y()) {
            TOPK_REACHED(REACHED_GRIDSELECT_NEXT_ROW);
            simt_block_sync();
        }
        s.begin_row((uint32_t)r.k);
        simt_block_sync();
        select_row<Element, TWO>(a, row, &reader, &s);
        turns = reader.turns;
    }
}

template <typename Element, bool TWO>
TOPK_KERNEL TOPK_BOUNDS(GRIDSELECT_WARPS *SIMT_WARP,
                        GRIDSELECT_WARPS_PER_SM /
                            GRIDSELECT_WARPS) void gridselect(TOPK_CONSTANT_ARGS struct gridselect_args a) {
    if (!is_called_off(a.rows))
        select_rows<Element, TWO>(a);
}

#endif
