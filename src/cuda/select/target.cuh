/* SPDX-License-Identifier: Apache-2.0
 * Writing the results of a row. */
#ifndef TOPK_SRC_CUDA_SELECT_TARGET_CUH
#define TOPK_SRC_CUDA_SELECT_TARGET_CUH

#include "../rows.cuh"
#include "args.h"
#include "entries.cuh"
#include "lists.cuh"
#include "share.cuh"
#include "sizes.h"

/* The results of one row, in global memory. */
template <typename Element> struct row_target {
    typedef key_word_t<Element> word;
    /* Tiles after which sinks ask how many slots are taken. */
    static const uint32_t PATIENCE = 8;
    const struct row_args &rows;
    const struct target &to;
    int64_t row;
    struct row r;
    int64_t place; /* of its entries among other rows' entries */

    static TOPK_MEMBER uint64_t read(const uint64_t *counter) {
        return simt_load_relaxed(counter);
    }
    TOPK_MEMBER void put(uint64_t slot, word bits, int64_t position) const {
        if (to.kind == TARGET_OUTPUTS) {
            write_result<Element>(rows, row, r, (int64_t)slot, (Element)bits, position);
        } else if (to.kind == TARGET_ENTRIES) {
            struct entry e = make_entry(to.two_words, key_of<Element>(bits, rows.map), position);
            to.entries[place * to.pitch + (int64_t)slot] = e.high;
            if (to.two_words)
                to.entries_low[place * to.pitch + (int64_t)slot] = e.low;
        } else if (to.kind == TARGET_LIST) {
            global_list<Element>{to.list, row * rows.k_max}.put(slot, bits, position);
        }
    }
};

/* The same, of a block with a row of its own: entries and counters are in shared memory. */
template <typename Element, bool TWO> struct block_target : row_target<Element> {
    typedef row_target<Element> base;
    static const uint32_t PATIENCE = 1;
    entry_list<TWO> entry_slots;

    template <typename Counter> static TOPK_MEMBER uint64_t read(Counter counter) {
        return simt_atomic_add(counter, (uint64_t)0);
    }
    TOPK_MEMBER void put(uint64_t slot, typename base::word bits, int64_t position) const {
        if (base::to.kind == TARGET_ENTRIES)
            entry_slots.put((uint32_t)slot, make_entry(TWO, key_of<Element>(bits, base::rows.map), position));
        else
            base::put(slot, bits, position);
    }
};

/* How a row is written whose range needs no further digit. If more candidates tie than are needed, and the
 * first ones are to be taken: a few are kept all, for the sort to choose from; otherwise the row is filtered
 * in the order of positions. */
struct result_plan {
    bool in_order;
    uint64_t winners; /* their slots are 0 to winners - 1, unless in order */
    uint64_t ties;    /* to be written behind them */
};

TOPK_DEVICE struct result_plan plan_results(const struct target &to, const struct kth_range &range,
                                            int64_t k) {
    bool choose = !to.ties_free && range.candidates > range.need;
    bool keep_all = choose && to.kind == TARGET_ENTRIES && range.candidates <= SELECT_TIES_KEPT;
    if (choose && to.kind == TARGET_ENTRIES)
        TOPK_REACHED(keep_all ? REACHED_SELECT_TIES_KEPT : REACHED_SELECT_TIES_BEYOND);
    struct result_plan plan;
    plan.in_order = to.in_order || (choose && !keep_all);
    plan.winners = (uint64_t)k - range.need;
    plan.ties = keep_all ? range.candidates : range.need;
    return plan;
}

/* Pads the block's share of the slots behind a row's results. */
template <typename Element>
TOPK_DEVICE void pad_row(const struct row_args &rows, int64_t row, const struct row &r, struct share share) {
    int64_t step = (int64_t)share.blocks * simt_threads();
    for (int64_t slot = r.k + (int64_t)share.block * simt_threads() + simt_thread(); slot < rows.k_max;
         slot += step)
        write_padding<Element>(rows, row, slot);
}

#endif
