/* SPDX-License-Identifier: Apache-2.0
 * The order of few entries, by counting for each how many are before it. */
#ifndef TOPK_SRC_CUDA_RESIDENT_RANKED_CUH
#define TOPK_SRC_CUDA_RESIDENT_RANKED_CUH

#include "../select/entries.cuh"

/* Lanes that count for one entry. */
enum { RANK_LANES = 8 };

/* Lanes with the caller's entry. */
TOPK_DEVICE uint32_t rank_lanes(void) {
    return ((1u << RANK_LANES) - 1) << simt_lane() / RANK_LANES * RANK_LANES;
}

/* The sum of value(other) over the first `count` entries. The RANK_LANES lanes of an entry. */
template <bool TWO, typename Value>
TOPK_DEVICE uint32_t sum_entries(const entry_list<TWO> &list, uint32_t count, const Value &value) {
    uint32_t sum = 0;
#pragma unroll 4
    for (uint32_t i = simt_lane() % RANK_LANES; i < count; i += RANK_LANES)
        sum += value(list.get(i));
#pragma unroll
    for (uint32_t lanes = RANK_LANES / 2; lanes != 0; lanes /= 2)
        sum += simt_shuffle_xor(rank_lanes(), sum, lanes);
    return sum;
}

/* Calls work(entry, rank) for the first `count` entries, in RANK_LANES lanes of each. All entries are
 * different. */
template <bool TWO, typename Work>
TOPK_DEVICE void for_ranked(const entry_list<TWO> &list, uint32_t count, const Work &work) {
    for (uint32_t i = simt_thread() / RANK_LANES; i < count; i += simt_threads() / RANK_LANES) {
        const struct entry e = list.get(i);
        const auto is_earlier = [&](const struct entry &other)
                                    TOPK_LAMBDA -> uint32_t { return is_before(other, e) ? 1 : 0; };
        work(e, sum_entries(list, count, is_earlier));
    }
}

#endif
