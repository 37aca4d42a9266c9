/* SPDX-License-Identifier: Apache-2.0
 * Adds to a state what waits for it and what another one has; and makes it ready for results. A block for
 * each row. */
#ifndef TOPK_SRC_CUDA_ACCUMULATE_MERGE_CUH
#define TOPK_SRC_CUDA_ACCUMULATE_MERGE_CUH

#include "list.cuh"
#include "open.cuh"

/* Where candidates come from, one source after another. */
enum merge_source { SOURCE_OWN_BEST, SOURCE_CANDIDATES, SOURCE_BEST, SOURCES };

/* Entries of a source, and how many; 0 where there are none. */
template <typename Element> struct source_of_row {
    row_list<Element> list;
    int64_t count;

    static TOPK_MEMBER source_of_row of(const struct accumulate_args &a, int64_t row, uint32_t source) {
        const bool wide = a.rows.wide_indices, is_own = source == SOURCE_OWN_BEST;
        if (!is_own && (a.other.header == nullptr || source == SOURCES))
            return source_of_row{row_list<Element>::of(a.state.best, row, wide), 0};
        const struct accumulate_state &from = is_own ? a.state : a.other;
        if (source == SOURCE_CANDIDATES)
            return source_of_row{row_list<Element>::of(from.candidates, row, wide),
                                 known_row::of(from.rows[row]).count};
        return source_of_row{row_list<Element>::of(from.best, row, wide),
                             from.header->selects != 0 ? from.best.pitch : 0};
    }
};

/* Adds all sources of a row; its best k stay. All threads. */
template <typename Element> TOPK_DEVICE void add_sources(row_candidates<Element> *c, int64_t row) {
    const bool wide = c->a.rows.wide_indices;
#pragma unroll 1
    for (uint32_t source = 0; source <= SOURCES; source++) {
        const source_of_row<Element> from = source_of_row<Element>::of(c->a, row, source);
        int64_t first = 0;
#pragma unroll 1
        do {
            if (c->room() == 0 && source != SOURCES)
                TOPK_REACHED(REACHED_ACCUMULATE_REFILLED);
            if (c->room() == 0 || source == SOURCES)
                c->settle();
            const int64_t left = from.count - first, some = left < c->room() ? left : c->room();
            c->add(from.list.from(first, wide), some);
            first += some;
        } while (first < from.count);
    }
}

template <typename Element>
TOPK_KERNEL TOPK_BOUNDS(ACCUMULATE_LIST_THREADS,
                        1) void accumulate_merge(TOPK_CONSTANT_ARGS struct accumulate_args a) {
    simt_arena arena = simt_shared_arena();
    const struct lists_shared m = carve_lists(arena);
    const bool merges = a.other.header != nullptr;
    uint64_t rows_done = 0;
    if (!is_sound(a)) {
        break_state(a);
        return;
    }
    const bool has_payload =
        a.state.header->payload == PAYLOAD_GIVEN || (merges && a.other.header->payload == PAYLOAD_GIVEN);
    for (int64_t row = simt_block(); row < a.rows.rows; row += simt_blocks()) {
        if (row != simt_block())
            TOPK_REACHED(REACHED_ACCUMULATE_MERGE_NEXT_ROW);
        row_candidates<Element> c = row_candidates<Element>::of(a, m, row, has_payload);
        simt_block_sync();
        if (merges) {
            const int64_t k = known_row::of(a.other.rows[row]).k;
            c.now.k = k < c.now.k ? k : c.now.k;
        }
        add_sources(&c, row);
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
