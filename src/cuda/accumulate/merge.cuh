/* SPDX-License-Identifier: Apache-2.0
 * Adds to a state what waits for it and what another one has; and makes it ready for results. A block for
 * each row. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_MERGE_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_MERGE_CUH

#include "list.cuh"
#include "open.cuh"

/* Adds entries that are more than there is room for, perhaps. */
template <typename Element>
TOPK_DEVICE void add_all(row_candidates<Element> *c, const row_list<Element> &from, int64_t count) {
    const bool wide = c->a.rows.wide_indices;
    for (int64_t first = 0, some; first < count; first += some) {
        if (c->room() == 0) {
            TOPK_REACHED(REACHED_ACCUMULATE_REFILLED);
            c->settle();
        }
        some = count - first < c->room() ? count - first : c->room();
        c->add(from.from(first, wide), some);
    }
}

/* What a state has of a row. */
template <typename Element>
TOPK_DEVICE void add_state(row_candidates<Element> *c, const struct accumulate_state &from, int64_t row,
                           bool all) {
    const bool wide = c->a.rows.wide_indices;
    if (all)
        add_all(c, row_list<Element>::of(from.candidates, row, wide), from.rows[row].count);
    if (from.header->selects != 0)
        add_all(c, row_list<Element>::of(from.best, row, wide), from.best.pitch);
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(ACCUMULATE_LIST_THREADS,
                        1) void accumulate_merge(TOPK_CONSTANT_ARGS struct accumulate_args a) {
    simt_arena arena = simt_shared_arena();
    const struct list_memory m = carve_lists(arena);
    const bool merges = a.other.header != nullptr;
    uint64_t rows_done = 0;
    if (!is_sound(a)) {
        break_state(a);
        return;
    }
    const bool has_payload =
        a.state.header->payload == PAYLOAD_GIVEN || (merges && a.other.header->payload == PAYLOAD_GIVEN);
    for (int64_t row = simt_block(); row < a.rows.rows; row += simt_blocks()) {
        row_candidates<Element> c = row_candidates<Element>::of(a, m, row, has_payload);
        add_state(&c, a.state, row, false);
        if (merges) {
            const int64_t k = a.other.rows[row].k;
            c.now.k = k < c.now.k ? k : c.now.k;
            add_state(&c, a.other, row, true);
        }
        c.settle();
        c.store(row);
        if (simt_thread() == 0) {
            a.state.lengths[row] = c.now.count;
            a.state.ks[row] = c.now.k;
        }
        simt_block_sync();
        rows_done++;
    }
    if (simt_thread() == 0 && is_last_of_rows(a, rows_done))
        leave_state(a, 0);
}

#endif
