/* SPDX-License-Identifier: Apache-2.0
 * The kernel. A block keeps the best run of what it has seen, sorted, and beside it the runs of a tile, which
 * it sorts. Pairs of runs then give way to their better halves until one is left. */
#ifndef TOPK_SRC_CUDA_BITONIC_ROW_CUH
#define TOPK_SRC_CUDA_BITONIC_ROW_CUH

#include "../block.cuh"
#include "../rows.cuh"
#include "kernels.h"
#include "network.cuh"

/* A block's share of a row. */
template <typename Element, bool TWO> struct bitonic_row {
    const struct bitonic_args &a;
    int64_t row;
    struct row r;
    padded_list<TWO> list;
    uint32_t run; /* entries of one */

    TOPK_MEMBER const Element *values(void) const {
        return row_values<Element>(a.rows, r);
    }
    /* The entry of an element of the row. */
    TOPK_MEMBER struct entry element(int64_t position) const {
        if (position >= r.length)
            return as_stored<TWO>(no_entry());
        const key_word_t<Element> bits = simt_load_read_only(values() + position);
        return make_entry(TWO, key_of<Element>(bits, a.rows.map), position);
    }
    /* An entry of the `count` lists that are merged. */
    TOPK_MEMBER struct entry listed(int64_t number, int64_t count) const {
        if (number >= count)
            return as_stored<TWO>(no_entry());
        const int64_t at = row * count + number;
        return entry{a.from.entries[at], TWO ? a.from.entries_low[at] : 0};
    }
    /* The power of two of runs that hold the best one and `count` entries, up to all of a tile. */
    TOPK_MEMBER uint32_t runs_for(int64_t count) const {
        uint32_t runs = 2;
        while (runs < 1u << (a.tile_log2 - a.run_log2) && (int64_t)(runs - 1) * run < count)
            runs *= 2;
        return runs;
    }
    /* Merges the block's tiles of `count` entries in all: load(number). All threads; ends with a barrier. */
    template <typename Load> TOPK_MEMBER void merge(int64_t count, bool are_sorted, const Load &load) const {
        const struct runs all = {0, runs_for(count), a.run_log2, a.run_log2},
                          fresh = {1, all.count - 1, a.run_log2, a.run_log2};
        const int64_t step = (int64_t)fresh.entries() * simt_blocks();
        for (uint32_t i = simt_thread(); i < run; i += simt_threads())
            list.put(i, as_stored<TWO>(no_entry()));
        for (int64_t first = (int64_t)fresh.entries() * simt_block(); first < count; first += step) {
            for (uint32_t i = simt_thread(); i < fresh.entries(); i += simt_threads())
                list.put(run + i, load(first + i));
            simt_block_sync();
            if (!are_sorted)
                sort_runs(list, fresh);
            halve_runs(list, all);
        }
        simt_block_sync();
    }
    TOPK_MEMBER void write_list(void) const {
        const int64_t first = (row * a.to.count + simt_block()) * run;
        for (uint32_t i = simt_thread(); i < run; i += simt_threads()) {
            const struct entry e = list.get(i);
            a.to.entries[first + i] = e.high;
            if (TWO)
                a.to.entries_low[first + i] = e.low;
        }
    }
    TOPK_MEMBER void write_results(void) const {
        for (int64_t slot = simt_thread(); slot < r.k; slot += simt_threads()) {
            const int64_t position = entry_position(TWO, list.get((uint32_t)slot));
            write_result<Element>(a.rows, row, r, slot, values()[position], position);
        }
        pad_from<Element>(a.rows, row, r.k + simt_thread(), simt_threads());
    }
    TOPK_MEMBER void select(void) const {
        const int64_t listed_count = a.from.count * run;
        if (a.from.count > 0)
            merge(listed_count, true,
                  [&](int64_t number) TOPK_LAMBDA { return listed(number, listed_count); });
        else
            merge(r.length, false, [&](int64_t number) TOPK_LAMBDA { return element(number); });
        if (a.to.count > 0)
            write_list();
        else
            write_results();
        simt_block_sync();
    }
};

template <typename Element, bool TWO>
TOPK_KERNEL TOPK_BOUNDS(BITONIC_THREADS, 2) void bitonic(struct bitonic_args a) {
    simt_arena arena = simt_shared_arena();
    const padded_list<TWO> list = carve_padded<TWO>(arena, 1u << a.tile_log2);
    simt_wait_predecessor();
    if (a.has_successor)
        simt_allow_successor();
    if (is_called_off(a.rows))
        return;
    for (int64_t row = simt_block_y(); row < a.rows.rows; row += simt_blocks_y()) {
        if (row != simt_block_y())
            TOPK_REACHED(REACHED_BITONIC_NEXT_ROW);
        bitonic_row<Element, TWO>{a, row, row_at(a.rows, row), list, 1u << a.run_log2}.select();
    }
}

#endif
