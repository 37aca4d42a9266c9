/* SPDX-License-Identifier: Apache-2.0
 * Entries from a target in global memory into shared memory; and sorted ones from there into the outputs. */
#ifndef TOPK_SRC_CUDA_SELECT_SORTED_RESULTS_CUH
#define TOPK_SRC_CUDA_SELECT_SORTED_RESULTS_CUH

#include "target.cuh"

/* Loads that one thread has in flight. */
enum { ENTRY_BATCH = 8, RESULT_BATCH = 4 };

/* Loads a row's entries `begin` to end - 1 into the same slots of `list`. */
template <bool TWO>
TOPK_DEVICE void load_entries(const struct target &from, int64_t row, uint32_t begin, uint32_t end,
                              const entry_list<TWO> &list) {
    for (uint32_t first = begin + simt_thread(); first < end; first += ENTRY_BATCH * simt_threads()) {
        struct entry loaded[ENTRY_BATCH] = {};
#pragma unroll
        for (uint32_t j = 0; j < ENTRY_BATCH; j++) {
            uint32_t i = first + j * simt_threads();
            if (i < end)
                loaded[j] = entry{from.entries[row * from.pitch + i],
                                  TWO ? from.entries_low[row * from.pitch + i] : 0};
        }
#pragma unroll
        for (uint32_t j = 0; j < ENTRY_BATCH; j++)
            if (first + j * simt_threads() < end)
                list.put(first + j * simt_threads(), loaded[j]);
    }
}

/* Writes sorted entries and padding as a row's results. */
template <typename Element, bool TWO>
TOPK_DEVICE void write_entries(const struct row_args &rows, int64_t row, const struct row &r,
                               const entry_list<TWO> &list) {
    const Element *values = row_values<Element>(rows, r);
    const uint32_t all = (uint32_t)rows.k_max, count = (uint32_t)r.k;
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
                write_result<Element>(rows, row, r, slot, elements[j], entry_position(TWO, list.get(slot)));
            else if (slot < all)
                write_padding<Element>(rows, row, slot);
        }
    }
}

/* Entries that a warp ranks together. */
enum { RANKED = 2 };

/* How many entries are before each of these, in 16 bits for each. All lanes. */
template <bool TWO>
TOPK_DEVICE uint32_t rank_entries(const entry_list<TWO> &list, uint32_t count,
                                  const struct entry (&ranked)[RANKED]) {
    static_assert(RANKED == 2 && SELECT_SORT_MAX + SELECT_TIES_KEPT < 1 << 16, "both ranks fit one word");
    uint32_t before = 0;
#pragma unroll 4
    for (uint32_t i = simt_lane(); i < count; i += SIMT_WARP) {
        struct entry other = list.get(i);
        before += is_before(other, ranked[0]) ? 1u : 0;
        before += is_before(other, ranked[1]) ? 1u << 16 : 0;
    }
    return simt_reduce_add(SIMT_ALL_LANES, before);
}

/* Writes the best results of a row whose entries several blocks have in their shared memory: an entry's slot
 * is its rank, which a warp counts. */
template <typename Element, bool TWO>
TOPK_DEVICE void write_ranked(const struct row_args &rows, int64_t row, const struct row &r,
                              const entry_list<TWO> &list, uint32_t count, struct share share) {
    const uint32_t warps = share.blocks * simt_warps();
    for (uint32_t i = RANKED * (share.block * simt_warps() + simt_warp()); i < count; i += RANKED * warps) {
        const struct entry ranked[RANKED] = {list.get(i), list.get(i + 1 < count ? i + 1 : i)};
        uint32_t mine = simt_lane() % RANKED,
                 before = rank_entries(list, count, ranked) >> mine * 16 & 0xffff;
        if (simt_lane() < RANKED && i + mine < count && before < r.k) {
            int64_t position = entry_position(TWO, mine == 0 ? ranked[0] : ranked[1]);
            write_result<Element>(rows, row, r, before, row_values<Element>(rows, r)[position], position);
        }
    }
}

#endif
