/* SPDX-License-Identifier: Apache-2.0
 * The way out: exact keys of all experts in shared memory, from which the best is taken again and again. It
 * serves every row, and rows that the filter cannot. */
#ifndef TOPK_SRC_CUDA_ROUTE_EXACT_CUH
#define TOPK_SRC_CUDA_ROUTE_EXACT_CUH

#include "candidates.cuh"

/* Greater for the better expert, and for the first of equals; never 0. */
TOPK_DEVICE uint64_t entry_of(uint32_t key, uint32_t expert) {
    return (uint64_t)key << 32 | ~expert;
}

/* The score of a key; +0 for both zeros. */
TOPK_DEVICE float score_of_key(uint32_t key, uint32_t nan_key) {
    const uint32_t sign = 0x80000000u, nan = 0x7fc00000;
    return score_of_bits(key == nan_key ? nan : (key & sign) != 0 ? key ^ sign : ~key);
}

/* Of a group whose first expert that is. */
TOPK_DEVICE uint32_t key_of_group(const struct route_args &a, uint32_t first, const row_lists &lists) {
    uint32_t best = SCORE_KEY_ABSENT, second = SCORE_KEY_ABSENT;
#pragma unroll 1
    for (uint32_t e = first; e < first + a.group_size; e++) {
        const uint32_t key = lists.keys[e];
        second = key > best ? best : key > second ? key : second;
        best = key > best ? key : best;
    }
    const float score = score_of_key(best, a.nan_key);
    return a.group_size == 1 ? best : score_key(score_add(score, score_of_key(second, a.nan_key)), a.nan_key);
}

/* Makes the experts of all groups but the best absent. All lanes. */
template <uint32_t LANES> TOPK_DEVICE void drop_groups(const struct route_args &a, const row_lists &lists) {
    const uint32_t experts = (uint32_t)a.rows.length_max, lane = simt_lane() % LANES;
    simt_warp_sync(SIMT_ALL_LANES);
    for (uint32_t group = lane; group < a.groups; group += LANES)
        lists.keys[experts + group] = key_of_group(a, group * a.group_size, lists);
    simt_warp_sync(SIMT_ALL_LANES);
    for (uint32_t group = lane; group < a.groups; group += LANES) {
        const uint32_t mine = lists.keys[experts + group];
        uint32_t rank = 0;
#pragma unroll 1
        for (uint32_t other = 0; other < a.groups; other++) {
            const uint32_t key = lists.keys[experts + other];
            rank += key > mine || (key == mine && other < group) ? 1 : 0;
        }
#pragma unroll 1
        for (uint32_t i = 0; rank >= a.groups_kept && i < a.group_size; i++)
            lists.keys[group * a.group_size + i] = SCORE_KEY_ABSENT;
    }
    simt_warp_sync(SIMT_ALL_LANES);
}

/* Lists the best experts of a row as results. All lanes. */
template <typename Element, uint32_t LANES>
TOPK_DEVICE void choose_exactly(const logit_row<Element> &row, const row_lists &lists) {
    const uint32_t lane = simt_lane() % LANES;
    simt_warp_sync(SIMT_ALL_LANES);
#pragma unroll 1
    for (uint32_t e = lane; e < row.experts(); e += LANES)
        lists.keys[e] = score_key(row.score(e, row.logit(e)), row.a.nan_key);
    if (row.a.groups != 0)
        drop_groups<LANES>(row.a, lists);
    for (uint32_t slot = 0; slot < row.a.wanted; slot++) {
        uint64_t best = 0;
#pragma unroll 1
        for (uint32_t e = lane; e < row.experts(); e += LANES) { /* whose keys no other lane touches now */
            const uint64_t entry = entry_of(lists.keys[e], e);
            best = entry > best ? entry : best;
        }
        best = combine_row<LANES>(best, [](uint64_t a, uint64_t b) TOPK_LAMBDA { return a > b ? a : b; });
        const uint32_t expert = ~(uint32_t)best;
        if (expert % LANES == lane) {
            lists.keys[expert] = SCORE_KEY_ABSENT;
            put_result(row, slot, expert, lists);
        }
    }
}

#endif
