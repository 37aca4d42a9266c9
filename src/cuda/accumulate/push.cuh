/* SPDX-License-Identifier: Apache-2.0
 * A push reads its chunk once. What passes a row's bar goes behind the row's candidates; the last of the
 * row's blocks counts them in. The way out is another, where there is no bar and no room for all of the
 * chunk, or no room for what passes the bar: the row's blocks find the best of the chunk (way_out.cuh); or of
 * many rows, a selection that follows on a condition. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_PUSH_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_PUSH_CUH

#include "open.cuh"
#include "way_out.cuh"

/* Waits until all blocks are done with the slots that they have taken, and sees what they stored. All threads
 * of the row's last block. */
TOPK_DEVICE void await_stored(const struct accumulate_row &at, uint64_t placed) {
    if (simt_thread() == 0) {
        simt_fence_device();
        while (simt_load_acquire(&at.stored) != placed)
            ;
    }
    simt_block_sync();
}

/* What the last block of a row leaves for calls inside this one, and for the next push. One thread. */
TOPK_DEVICE void leave_row(const struct accumulate_args &a, int64_t row, int64_t k, int64_t left_length) {
    simt_store_relaxed(&a.state.rows[row].taken, (uint64_t)0);
    a.state.lengths[row] = left_length;
    a.state.ks[row] = k;
}

/* How many are listed, once all blocks are done with a row. Makes all words 0. */
TOPK_DEVICE int64_t leave_way_out(struct accumulate_way_out &w) {
    const uint64_t listed = simt_load_relaxed(&w.listed);
    simt_block_sync();
    for (uint32_t i = simt_thread(); i < ACCUMULATE_STEPS; i += simt_threads()) {
        simt_store_relaxed(&w.taken[i], (uint64_t)0);
        simt_store_relaxed(&w.done[i], (uint64_t)0);
    }
    if (simt_thread() == 0) {
        simt_store_relaxed(&w.listed, (uint64_t)0);
        simt_store_relaxed(&w.step, 0u);
    }
    return (int64_t)listed;
}

/* Leaves a row whose candidates, and the listed best of the chunk, launches behind this one settle. Returns
 * whether they have to. All threads of the row's last block. */
TOPK_DEVICE bool leave_apart(const struct accumulate_args &a, int64_t row, struct known_row now,
                             int64_t best) {
    now.count = now.k == 0 ? 0 : now.count + best;
    if (simt_thread() == 0) {
        now.store(a.state.rows[row]);
        simt_store_relaxed(&a.state.ways_out[row].listed, now.k == 0 ? (uint64_t)0 : (uint64_t)best);
        leave_row(a, row, now.k, now.count);
    }
    return best > 0 || (!now.has_bar && now.count >= now.k) || room_of(a, now) < a.state.best.pitch;
}

/* Counts in what all blocks have added to a row, and what waits for it. Returns whether the row is left to a
 * selection from the chunk. All threads of the row's last block. */
template <typename Element>
TOPK_NOINLINE bool close_row(const struct accumulate_args &a, int64_t row, struct taken_slots taken) {
    simt_arena arena = simt_shared_arena();
    const struct lists_shared m = carve_lists(arena);
    const struct row r = row_at(a.rows, row);
    /* What waits may be of an earlier chunk, and this one have no elements. */
    const bool has_payload =
        a.payload == PAYLOAD_GIVEN || simt_load_relaxed(&a.state.header->payload) == PAYLOAD_GIVEN;
    row_candidates<Element> c = row_candidates<Element>::of(a, m, row, has_payload);
    const bool is_selected = a.state.ways_out == nullptr; /* what the row's blocks leave */
    const bool waits = is_selected && simt_load_relaxed(&a.state.header->selects) != 0;
    c.now.k = r.wanted < c.now.k ? r.wanted : c.now.k;
    const bool is_full = taken.is_full() || (int64_t)taken.slots() > a.state.candidates.pitch - c.now.count;
    const bool is_left = c.now.k > 0 && is_full;
    if (is_left)
        TOPK_REACHED(c.now.has_bar ? REACHED_ACCUMULATE_OVERFLOW : REACHED_ACCUMULATE_LEFT);
    if (simt_blocks() > 1)
        await_stored(a.state.rows[row], c.now.placed += taken.slots());
    c.now.count += is_left ? 0 : (int64_t)taken.slots();
    simt_block_sync();
    const int64_t best = waits                     ? a.state.best.pitch
                         : is_left && !is_selected ? leave_way_out(a.state.ways_out[row])
                                                   : 0;
    if (a.is_apart)
        return leave_apart(a, row, c.now, best);
    bool is_added = best == 0;
#pragma unroll 1
    for (;;) { /* settles before and after */
        /* Nothing is held back any more. */
        const int64_t room = is_added ? a.rows.k_max : best - a.state.reserve;
        if (c.room() < room)
            TOPK_REACHED(REACHED_ACCUMULATE_FULL);
        if (c.room() < room || (is_added && (!c.now.has_bar || best > 0 || c.now.k == 0)))
            c.settle();
        if (is_added)
            break;
        TOPK_REACHED(REACHED_ACCUMULATE_WAITED);
        c.add(row_list<Element>::of(a.state.best, row, a.rows.wide_indices), best);
        is_added = true;
    }
    c.store(row);
    if (simt_thread() == 0)
        leave_row(a, row, c.now.k, is_left ? r.length : 0);
    return is_left && is_selected;
}

/* The same where nothing else is to be done, as after most pushes. False: there is. All threads of the row's
 * last block. */
TOPK_DEVICE bool count_in(const struct accumulate_args &a, int64_t row, simt_shared<uint64_t> known,
                          struct taken_slots taken) {
    const struct known_row now = row_in_state(known);
    if (!now.has_bar || now.k == 0 || row_of_chunk(known).wanted < now.k || taken.is_full() ||
        known_header::of_words(known).waits(a) ||
        room_of(a, now) - (int64_t)taken.slots() < (a.is_apart ? a.state.best.pitch : a.rows.k_max))
        return false;
    /* In another warp than the first, whose stores are on their way. */
    if (simt_thread() == simt_threads() - 1) {
        simt_store_relaxed(&a.state.rows[row].count, (uint64_t)now.count + taken.slots());
        if (simt_blocks() > 1)
            simt_store_relaxed(&a.state.rows[row].placed, now.placed + taken.slots());
        leave_row(a, row, now.k, a.is_apart ? now.count + (int64_t)taken.slots() : 0);
    }
    return true;
}

/* The slots of a row that blocks have taken before this one takes some for what it holds back. It tells them
 * that it is done. One thread, which has met the others since the last hit. */
template <typename Element>
TOPK_DEVICE struct taken_slots end_block(struct accumulate_row &at, const held_memory<Element> &held,
                                         struct taken_slots ours) {
    if (simt_blocks() == 1)
        return {held.others[0]};
    if (ours.is_full())
        simt_fence_device(); /* after the way out */
    return {simt_atomic_add(&at.taken, ours.word)};
}

/* Tells the last block of a row that this block has stored all that it took slots for. One thread, after a
 * barrier behind these stores. */
template <typename Element>
TOPK_DEVICE void tell_stored(struct accumulate_row &at, const held_memory<Element> &held) {
    const uint32_t count = held.held() + held.others[0];
    if (simt_blocks() == 1 || count == 0)
        return;
    simt_fence_device();
    simt_atomic_add(&at.stored, (uint64_t)count);
}

/* Ends the block's share of a row: takes slots for what it holds back. All threads, which have met since the
 * last hit. */
template <typename Element>
TOPK_DEVICE struct taken_slots end_row(const struct accumulate_args &a, int64_t row, bool is_full) {
    const push_memory<Element> m = memory_of_push<Element>();
    if (simt_warp() == 0) {
        const uint32_t count = m.held.held();
        const struct taken_slots ours = {count + taken_slots::BLOCK + (is_full ? taken_slots::FULL : 0)};
        struct taken_slots before = {0};
        if (simt_lane() == 0) {
            before = end_block(a.state.rows[row], m.held, ours);
            m.lists.last[0] = before.word + ours.word;
        }
        before.word = simt_shuffle(SIMT_ALL_LANES, before.word, 0);
        const int64_t slot = row_in_state(m.known).count + (int64_t)before.slots() + simt_lane();
        if (simt_lane() < count && !is_full && slot < a.state.candidates.pitch)
            put_candidate(a, row_of_chunk(m.known),
                          row_list<Element>::of(a.state.candidates, row, a.rows.wide_indices), slot,
                          m.held.elements[simt_lane()], (int64_t)(uint64_t)m.held.positions[simt_lane()]);
    }
    simt_block_sync();
    if (simt_thread() == 0)
        tell_stored(a.state.rows[row], m.held);
    m.held.clear();
    return taken_slots{m.lists.last[0]};
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

/* Does the block's share of a row, whose first tiles are on their way. Returns whether it has found no room.
 * All threads. */
template <typename Element, typename Args>
TOPK_DEVICE bool share_row(const Args &args, int64_t row, bool none_match, tile_reader<Element> *reader) {
    const struct accumulate_args &a = rows_of(args);
    const push_memory<Element> m = memory_of_push<Element>();
    const struct known_row now = row_in_state(m.known);
    const struct row r = row_of_chunk(m.known);
    const row_gate<Element> gate = row_gate<Element>::of(a, now);
    const bool is_closed = none_match || now.k == 0 || r.wanted == 0 || r.length == 0;
    const bool is_left = !is_closed && !now.has_bar && r.length > room_of(a, now);
    const bool can_pass = gate.can_pass();
    if (!can_pass)
        TOPK_REACHED(REACHED_ACCUMULATE_ABOVE);
    if (!is_closed && !is_left && can_pass)
        read_row<Element>(args, gate, row, reader);
    reader->drain();
    simt_block_sync();
    const bool is_full = is_left || m.held.full[0] != 0;
    if (is_full && a.state.ways_out != nullptr)
        take_way_out<Element>(args, row);
    return is_full;
}

/* The first tiles of a row are on their way while the block learns about state and row. */
template <typename Element, typename Args> TOPK_DEVICE void push_rows(const Args &args, bool none_match) {
    const struct accumulate_args &a = rows_of(args);
    const push_memory<Element> m = memory_of_push<Element>();
    tile_reader<Element> reader = tile_reader<Element>::make();
    uint64_t rows_done = 0;
    uint32_t selects = 0;
    m.held.clear();
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        const struct row r = row_at(a.rows, row);
        const uint64_t word = simt_warp() == 0 ? load_known(a.state.header, &a.state.rows[row]) : 0;
        reader.begin(row_values<Element>(a.rows, r), r.length);
        if (row != simt_block_y()) { /* put_known() overwrites what threads may still read */
            TOPK_REACHED(REACHED_ACCUMULATE_NEXT_ROW);
            simt_block_sync();
        }
        put_known(m.known, word, r);
        simt_block_sync();
        if (!known_header::of_words(m.known).takes(a.problem, (uint32_t)a.payload)) {
            reader.drain();
            break_state(a);
            return;
        }
        const bool is_full = share_row<Element>(args, row, none_match, &reader);
        const struct taken_slots taken = end_row<Element>(a, row, is_full);
        if (taken.blocks() != simt_blocks())
            continue;
        if (!count_in(a, row, m.known, taken))
            selects |= close_row<Element>(a, row, taken);
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
