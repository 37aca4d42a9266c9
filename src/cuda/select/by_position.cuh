/* SPDX-License-Identifier: Apache-2.0
 * Results by position, where one block has their entries. Entries without a key are in the order of
 * positions, so the sort that puts results best first puts them by position, too, once no entry is left that
 * is no result. */
#ifndef TOPK_SRC_CUDA_SELECT_BY_POSITION_CUH
#define TOPK_SRC_CUDA_SELECT_BY_POSITION_CUH

#include "entries.cuh"
#include "sizes.h"

TOPK_DEVICE struct entry entry_without_key(bool two_words, int64_t position) {
    return two_words ? entry{0, (uint64_t)position} : entry{(uint64_t)position, 0};
}

/* Which of the candidates behind the first `winners` of `count` entries are not among the `need` best: a bit
 * for each that is the thread's, at most 32. */
template <bool TWO>
TOPK_DEVICE uint32_t surplus_of_thread(const entry_list<TWO> &list, uint32_t winners, uint32_t count,
                                       uint32_t need) {
    uint32_t surplus = 0, bit = 1;
#pragma unroll 1
    for (uint32_t mine = winners + simt_thread(); mine < count; mine += simt_threads(), bit *= 2) {
        const struct entry e = list.get(mine);
        uint32_t before = 0;
#pragma unroll 4
        for (uint32_t i = winners; i < count; i++)
            before += is_before(list.get(i), e) ? 1 : 0;
        surplus |= before >= need ? bit : 0;
    }
    return surplus;
}

/* Leaves positions alone of the best k of `count` entries. The first `winners` are results. The
 * others, few, are compared with each other. What is no result goes behind the row, to positions from
 * `length` on. All threads; between barriers. */
template <bool TWO>
TOPK_DEVICE void keep_positions(const entry_list<TWO> &list, uint32_t winners, uint32_t count, uint32_t k,
                                int64_t length) {
    uint32_t surplus = 0;
    if (count > k) {
        TOPK_REACHED(REACHED_SELECT_COMPARED);
        surplus = surplus_of_thread(list, winners, count, k - winners);
        simt_block_sync();
    }
    const uint32_t candidates = count > k ? winners : count;
#pragma unroll 1
    for (uint32_t slot = simt_thread(); slot < candidates; slot += simt_threads())
        list.put(slot, entry_without_key(TWO, entry_position(TWO, list.get(slot))));
#pragma unroll 1
    for (uint32_t slot = candidates + simt_thread(); slot < count; slot += simt_threads(), surplus /= 2)
        list.put(slot, entry_without_key(TWO, surplus % 2 != 0 ? length + slot
                                                               : entry_position(TWO, list.get(slot))));
    simt_block_sync();
}

#endif
