/* SPDX-License-Identifier: Apache-2.0
 * Rows with many results are settled by launches of their own, which all blocks share: a block alone would
 * take milliseconds. A push leaves all candidates of its rows, and says in the header whether they are to be
 * settled. Then, behind it:
 *
 *   gather   puts the listed best of the chunk behind the row's candidates
 *   merge    (../merge) writes the k best of these to the list of the best
 *   keep     makes them the row's candidates, and the last of them its bar
 *
 * Before results are written, `ask` looks whether rows are to be settled. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_APART_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_APART_CUH

#include "list.cuh"
#include "open.cuh"
#include "write.cuh"

/* What blocks that keep a row's best tell each other. */
struct keep_shared {
    simt_shared<uint64_t> keys, positions; /* of warps: the last of their results */
    simt_shared<uint32_t> is_last;
};

TOPK_HOST_DEVICE struct keep_shared carve_keep(simt_arena &arena) {
    struct keep_shared s;
    s.keys = simt_carve<uint64_t>(arena, SIMT_WARP);
    s.positions = simt_carve<uint64_t>(arena, SIMT_WARP);
    s.is_last = simt_carve<uint32_t>(arena, 1);
    return s;
}

template <typename Element>
TOPK_DEVICE void copy_candidate(const row_list<Element> &to, int64_t slot, const row_list<Element> &from,
                                int64_t at, bool has_payload, bool wide) {
    to.put(slot, from.bits(at), from.position(at));
    if (has_payload)
        to.put_payload(slot, from.payload_of(at, true, wide), wide);
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(ACCUMULATE_LIST_THREADS, 1) void accumulate_ask(struct accumulate_args a) {
    if (!is_sound(a)) {
        break_state(a);
        return;
    }
    bool settles = false;
    for (int64_t row = simt_thread(); row < a.rows.rows; row += simt_threads()) {
        const struct known_row now = known_row::of(a.state.rows[row]);
        settles |= now.count > now.k || (now.count == now.k && !now.has_bar);
        a.state.lengths[row] = now.count;
        a.state.ks[row] = now.k;
    }
    settles = simt_block_count(settles) > 0;
    if (simt_thread() == 0)
        simt_store_relaxed(&a.state.header->selects, (uint32_t)settles);
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(ACCUMULATE_LIST_THREADS, 1) void accumulate_gather(struct accumulate_args a) {
    const bool wide = a.rows.wide_indices, has_payload = a.state.header->payload == PAYLOAD_GIVEN;
    if (a.state.header->selects == 0)
        return;
    for_slots(a.rows, a.state.best.pitch, [&](int64_t row, int64_t slot) TOPK_LAMBDA {
        const int64_t listed = (int64_t)a.state.ways_out[row].listed;
        if (slot < listed)
            copy_candidate(row_list<Element>::of(a.state.candidates, row, wide),
                           a.state.lengths[row] - listed + slot,
                           row_list<Element>::of(a.state.best, row, wide), slot, has_payload, wide);
    });
}

/* The last of the places that the block's threads have: the least key, and the highest position with it. All
 * threads; the first warp has the answer. A barrier. */
TOPK_DEVICE void last_of_block(const struct keep_shared &s, uint64_t *key, uint64_t *position) {
#pragma unroll 1
    for (uint32_t round = 0; round < 2; round++) {
        const uint64_t least = simt_reduce_min(SIMT_ALL_LANES, *key);
        *position = simt_reduce_max(SIMT_ALL_LANES, *key == least ? *position : 0);
        *key = least;
        if (round == 1)
            return;
        if (simt_lane() == 0) {
            s.keys[simt_warp()] = *key;
            s.positions[simt_warp()] = *position;
        }
        simt_block_sync();
        *key = simt_lane() < simt_warps() ? (uint64_t)s.keys[simt_lane()] : ~(uint64_t)0;
        *position = simt_lane() < simt_warps() ? (uint64_t)s.positions[simt_lane()] : 0;
    }
}

/* Notes what a row has now. The first warp of the row's last block. */
TOPK_DEVICE void note_kept(const struct accumulate_args &a, int64_t row, int64_t count, uint32_t parts) {
    const uint64_t *bars = a.bars + 2 * row * (int64_t)parts;
    struct known_row now = known_row::of(a.state.rows[row]);
    uint64_t key = ~(uint64_t)0, position = 0;
    for (uint32_t part = simt_lane(); part < parts; part += SIMT_WARP) {
        const uint64_t of_part = simt_load_relaxed(&bars[2 * part]),
                       at = simt_load_relaxed(&bars[2 * part + 1]);
        position = of_part < key ? at : of_part == key && at > position ? at : position;
        key = of_part < key ? of_part : key;
    }
    const uint64_t least = simt_reduce_min(SIMT_ALL_LANES, key);
    position = simt_reduce_max(SIMT_ALL_LANES, key == least ? position : 0);
    if (simt_lane() != 0)
        return;
    if (now.k > 0 && count == now.k) {
        now.has_bar = true;
        now.bar_key = least;
        now.bar_position = (int64_t)position;
    }
    now.count = count;
    now.store(a.state.rows[row]);
    simt_store_relaxed(&a.state.rows[row].taken, (uint64_t)0);
    simt_store_relaxed(&a.state.ways_out[row].listed, (uint64_t)0);
}

/* Copies the block's part of a row's best, and finds the last of them. */
template <typename Element>
TOPK_DEVICE void keep_part(const struct accumulate_args &a, const struct keep_shared &s, int64_t row,
                           int64_t count, uint32_t part, uint32_t parts) {
    const bool wide = a.rows.wide_indices, has_payload = a.state.header->payload == PAYLOAD_GIVEN;
    const struct accumulate_list kept = {a.state.best.elements, a.state.best.positions, a.state.best.payload,
                                         a.rows.k_max};
    const row_list<Element> from = row_list<Element>::of(kept, row, wide),
                            to = row_list<Element>::of(a.state.candidates, row, wide);
    uint64_t key = ~(uint64_t)0, position = 0;
    for (int64_t slot = (int64_t)part * simt_threads() + simt_thread(); slot < count;
         slot += (int64_t)parts * simt_threads()) {
        const uint64_t here = key_of<Element>(from.bits(slot), a.rows.map),
                       at = (uint64_t)from.position(slot);
        copy_candidate(to, slot, from, slot, has_payload, wide);
        position = here < key ? at : here == key && at > position ? at : position;
        key = here < key ? here : key;
    }
    last_of_block(s, &key, &position);
    if (simt_thread() == 0) {
        uint64_t *bar = a.bars + 2 * (row * (int64_t)parts + part);
        simt_store_relaxed(&bar[0], key);
        simt_store_relaxed(&bar[1], position);
    }
}

/* Blocks share the rows: `parts` have each. */
template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(ACCUMULATE_LIST_THREADS,
                        1) void accumulate_keep(TOPK_CONSTANT_ARGS struct accumulate_args a) {
    simt_arena arena = simt_shared_arena();
    const struct keep_shared s = carve_keep(arena);
    const uint32_t rows = (uint32_t)a.rows.rows, parts = simt_blocks() / rows;
    const int64_t row = simt_block() / parts;
    if (simt_load_relaxed(&a.state.header->selects) == 0)
        return;
    const int64_t candidates = a.state.lengths[row], k = a.state.ks[row],
                  count = candidates < k ? candidates : k;
    keep_part<Element>(a, s, row, count, simt_block() % parts, parts);
    if (simt_thread() == 0) {
        simt_fence_device();
        s.is_last[0] = simt_atomic_add(&a.state.rows[row].taken, (uint64_t)1) + 1 == parts;
        simt_fence_device();
    }
    simt_block_sync();
    if (s.is_last[0] == 0)
        return;
    if (simt_warp() == 0)
        note_kept(a, row, count, parts);
    if (simt_thread() == 0 && is_last_of_rows(a, 1)) {
        simt_store_relaxed(&a.state.header->selects, 0u);
        simt_store_relaxed(&a.state.header->rows_done, (uint64_t)0);
    }
}

#endif
