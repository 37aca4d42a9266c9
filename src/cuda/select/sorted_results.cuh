/* SPDX-License-Identifier: Apache-2.0
 * Entries from a target in global memory into shared memory; and sorted ones from there into the outputs. */
#ifndef TOPK_SRC_CUDA_SELECT_SORTED_RESULTS_CUH
#define TOPK_SRC_CUDA_SELECT_SORTED_RESULTS_CUH

#include "target.cuh"

/* Loads that one thread has in flight. */
enum { ENTRY_BATCH = 8, RESULT_BATCH = 4 };

/* Calls store(slot, load(slot)) for the thread's slots from `begin` to end - 1, with BATCH loads in flight.
 */
template <typename T, uint32_t BATCH, typename Load, typename Store>
TOPK_DEVICE void in_batches(uint32_t begin, uint32_t end, const Load &load, const Store &store) {
    for (uint32_t first = begin + simt_thread(); first < end; first += BATCH * simt_threads()) {
        T loaded[BATCH] = {};
#pragma unroll
        for (uint32_t j = 0; j < BATCH; j++)
            if (first + j * simt_threads() < end)
                loaded[j] = load(first + j * simt_threads());
#pragma unroll
        for (uint32_t j = 0; j < BATCH; j++)
            if (first + j * simt_threads() < end)
                store(first + j * simt_threads(), loaded[j]);
    }
}

/* The element of an entry of the row at `values`. Most keys tell its bits; the others have it loaded. */
template <typename Element>
TOPK_DEVICE Element element_of_entry(const struct decode_args &decode, const Element *values, bool two_words,
                                     const struct entry &e) {
    const uint64_t key = entry_key(two_words, e);
    return is_one_pattern(decode, key) ? (Element)decode_key(decode, key)
                                       : (Element)simt_load_read_only(values + entry_position(two_words, e));
}

/* Loads a row's entries `begin` to end - 1 into the same slots of `list`. */
template <bool TWO>
TOPK_DEVICE void load_entries(const struct target &from, int64_t row, uint32_t begin, uint32_t end,
                              const entry_list<TWO> &list) {
    in_batches<struct entry, ENTRY_BATCH>(
        begin, end,
        [&](uint32_t slot) TOPK_LAMBDA {
            return entry{from.entries[row * from.pitch + slot],
                         TWO ? from.entries_low[row * from.pitch + slot] : 0};
        },
        [&](uint32_t slot, const struct entry &e) TOPK_LAMBDA { list.put(slot, e); });
}

/* Writes sorted entries and padding as a row's results. */
template <typename Element, bool TWO>
TOPK_DEVICE void write_entries(const struct row_args &rows, int64_t row, const struct row &r,
                               const entry_list<TWO> &list) {
    const Element *values = row_values<Element>(rows, r);
    const uint32_t count = (uint32_t)r.k;
    in_batches<Element, RESULT_BATCH>(
        0, (uint32_t)rows.k_max,
        [&](uint32_t slot)
            TOPK_LAMBDA { return slot < count ? values[entry_position(TWO, list.get(slot))] : (Element)0; },
        [&](uint32_t slot, Element element) TOPK_LAMBDA {
            if (slot < count)
                write_result<Element>(rows, row, r, slot, element, entry_position(TWO, list.get(slot)));
            else
                write_padding<Element>(rows, row, slot);
        });
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
