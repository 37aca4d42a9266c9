/* SPDX-License-Identifier: Apache-2.0
 * A push reads its chunk once. What passes a row's bar goes behind the row's candidates; the last of the
 * row's blocks counts them in. The way out is another, where there is no bar and no room for all of the
 * chunk, or no room for what passes the bar: the row's blocks find the best of the chunk (way_out.cuh); or of
 * many rows, a selection that follows on a condition. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_PUSH_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_PUSH_CUH

#include "open.cuh"
#include "way_out.cuh"

/* Counts in what all blocks have added to a row, in so many slots that they took, and what waits for it.
 * Returns whether the row is left to a selection from the chunk. All threads of the row's last block. */
template <typename Element>
TOPK_NOINLINE bool close_row(const struct accumulate_args &a, int64_t row, uint64_t taken) {
    simt_arena arena = simt_shared_arena();
    const struct list_memory m = carve_lists(arena);
    const struct row r = row_at(a.rows, row);
    struct accumulate_row &at = a.state.rows[row];
    row_candidates<Element> c = row_candidates<Element>::of(a, m, row, a.payload == PAYLOAD_GIVEN);
    const bool is_selected = a.state.ways_out == nullptr; /* what the row's blocks leave */
    const bool has_bar = c.now.has_bar != 0, waits = is_selected && a.state.header->selects != 0;
    c.now.k = r.wanted < c.now.k ? r.wanted : c.now.k;
    const bool is_left = c.now.k > 0 && ((!has_bar && r.length > c.room()) || taken > (uint64_t)c.room());
    if (is_left)
        TOPK_REACHED(has_bar ? REACHED_ACCUMULATE_OVERFLOW : REACHED_ACCUMULATE_LEFT);
    c.now.count += is_left ? 0 : (int64_t)taken;
    simt_block_sync();
    const int64_t best = waits                     ? a.state.best.pitch
                         : is_left && !is_selected ? leave_way_out(a.state.ways_out[row])
                                                   : 0;
    bool is_added = best == 0;
#pragma unroll 1
    for (;;) { /* settles before and after */
        const int64_t room = is_added ? a.rows.k_max : best;
        if (c.room() < room)
            TOPK_REACHED(REACHED_ACCUMULATE_FULL);
        if (c.room() < room || (is_added && (c.now.has_bar == 0 || best > 0 || c.now.k == 0)))
            c.settle();
        if (is_added)
            break;
        TOPK_REACHED(REACHED_ACCUMULATE_WAITED);
        c.add(row_list<Element>::of(a.state.best, row, a.rows.wide_indices), best);
        is_added = true;
    }
    c.store(row);
    if (simt_thread() == 0) {
        simt_store_relaxed(&at.taken, (uint64_t)0);
        a.state.lengths[row] = is_left ? r.length : 0;
        a.state.ks[row] = c.now.k;
    }
    return is_left && is_selected;
}

/* What a block learns when it is done with a row. */
struct row_end {
    bool is_last;   /* of the row's blocks: it sees what the others have written */
    uint64_t taken; /* if it is: slots, by all blocks */
};

/* Ends the block's share of a row. All threads. */
TOPK_DEVICE struct row_end end_row(uint64_t *taken) {
    simt_arena arena = simt_shared_arena();
    const struct list_memory m = carve_lists(arena);
    simt_block_sync();
    if (simt_blocks() == 1)
        return {true, simt_load_relaxed(taken)};
    if (simt_thread() == 0) {
        simt_fence_device();
        m.last[0] = simt_atomic_add(taken, ACCUMULATE_BLOCK) + ACCUMULATE_BLOCK;
        simt_fence_device();
    }
    simt_block_sync();
    const uint64_t now = m.last[0];
    return {now / ACCUMULATE_BLOCK == simt_blocks(), now % ACCUMULATE_BLOCK};
}

/* Leaves the state, if all rows are done. One thread, which has met its block. */
TOPK_DEVICE void leave_rows(const struct accumulate_args &a, uint64_t rows_done, uint32_t selects) {
    uint32_t *of_all = &a.state.header->selecting;
    const bool is_alone = rows_done == (uint64_t)a.rows.rows;
    if (selects != 0 && !is_alone)
        simt_atomic_or(of_all, 1u);
    if (!is_last_of_rows(a, rows_done))
        return;
    leave_state(a, is_alone ? selects : simt_load_relaxed(of_all));
    if (!is_alone)
        simt_store_relaxed(of_all, 0u);
}

/* Does the block's share of a row, whose first tiles are on their way. */
template <typename Element, typename Args>
TOPK_DEVICE struct row_end share_row(const Args &args, const row_gate<Element> &gate, int64_t row,
                                     bool none_match, tile_reader<Element> *reader) {
    const struct accumulate_args &a = rows_of(args);
    bool has_room = !gate.is_left || none_match;
    if (gate.is_open && !none_match)
        has_room = read_row<Element>(args, gate, row, reader);
    reader->drain();
    if (a.state.ways_out != nullptr && simt_block_count(!has_room) > 0)
        take_way_out<Element>(args, row);
    return end_row(gate.taken);
}

/* The first tiles of a row are on their way while the block learns about state and row. */
template <typename Element, typename Args> TOPK_DEVICE void push_rows(const Args &args, bool none_match) {
    const struct accumulate_args &a = rows_of(args);
    tile_reader<Element> reader = tile_reader<Element>::make();
    uint64_t rows_done = 0;
    uint32_t selects = 0;
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        const struct row r = row_at(a.rows, row);
        reader.begin(row_values<Element>(a.rows, r), r.length);
        const bool is_state_sound = is_sound(a);
        const row_gate<Element> gate = row_gate<Element>::of(a, r, row, is_state_sound);
        if (!is_state_sound) {
            reader.drain();
            break_state(a);
            return;
        }
        if (row != simt_block_y()) {
            TOPK_REACHED(REACHED_ACCUMULATE_NEXT_ROW);
            simt_block_sync();
        }
        const struct row_end end = share_row<Element>(args, gate, row, none_match, &reader);
        if (!end.is_last)
            continue;
        selects |= close_row<Element>(a, row, end.taken);
        rows_done++;
    }
    simt_block_sync();
    if (simt_thread() == 0)
        leave_rows(a, rows_done, selects);
}

template <typename Element>
TOPK_KERNEL
TOPK_BOUNDS(ACCUMULATE_THREADS,
            ACCUMULATE_BLOCKS_OF_SM) void accumulate_push(TOPK_CONSTANT_ARGS struct accumulate_args a) {
    push_rows<Element>(a, false);
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(ACCUMULATE_THREADS, ACCUMULATE_BLOCKS_OF_SM) void accumulate_where(
    TOPK_CONSTANT_ARGS struct accumulate_where_args a) {
    push_rows<Element>(a, matcher<Element, true>::of(a.predicate).none);
}

#endif
