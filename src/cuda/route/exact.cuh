/* SPDX-License-Identifier: Apache-2.0
 * The way out: a warp takes the exact keys of all experts of one row, and the best of them again and again.
 * It serves every row, and rows that the filter cannot. */
#ifndef TOPK_SRC_CUDA_ROUTE_EXACT_CUH
#define TOPK_SRC_CUDA_ROUTE_EXACT_CUH

#include "held.cuh"

/* The score of a key; +0 for both zeros. */
TOPK_DEVICE float score_of_key(uint32_t key, uint32_t nan_key) {
    const uint32_t sign = 0x80000000u, nan = 0x7fc00000;
    return score_of_bits(key == nan_key ? nan : (key & sign) != 0 ? key ^ sign : ~key);
}

/* Of a group whose first expert that is. */
TOPK_DEVICE uint32_t key_of_group(const struct route_args &a, uint32_t first, simt_shared<uint32_t> keys) {
    uint32_t best = SCORE_KEY_ABSENT, second = SCORE_KEY_ABSENT;
#pragma unroll 4
    for (uint32_t e = 0; e < a.group_size; e++) {
        const uint32_t key = keys[first + e];
        second = key > best ? best : key > second ? key : second;
        best = key > best ? key : best;
    }
    const float score = score_of_key(best, a.nan_key);
    return a.group_size == 1 ? best : score_key(score_add(score, score_of_key(second, a.nan_key)), a.nan_key);
}

/* Makes the experts of all groups but the best absent. All lanes. */
TOPK_DEVICE void drop_groups(const struct route_args &a, simt_shared<uint32_t> keys) {
    const uint32_t experts = (uint32_t)a.rows.length_max, groups = a.groups, size = a.group_size;
    simt_warp_sync(SIMT_ALL_LANES);
    for (uint32_t group = simt_lane(); group < groups; group += SIMT_WARP)
        keys[experts + group] = key_of_group(a, group * size, keys);
    simt_warp_sync(SIMT_ALL_LANES);
    for (uint32_t group = simt_lane(); group < groups; group += SIMT_WARP) {
        const uint32_t mine = keys[experts + group];
        uint32_t rank = 0;
#pragma unroll 1
        for (uint32_t other = 0; other < groups; other++) {
            const uint32_t key = keys[experts + other];
            rank += key > mine || (key == mine && other < group) ? 1 : 0;
        }
        const uint32_t absent = rank >= a.groups_kept ? size : 0;
#pragma unroll 1
        for (uint32_t i = 0; i < absent; i++)
            keys[group * size + i] = SCORE_KEY_ABSENT;
    }
    simt_warp_sync(SIMT_ALL_LANES);
}

/* Lists the best experts of row `number` of the block, one of the warp's, as results. All lanes. */
template <typename Shape>
TOPK_NOINLINE void choose_exactly(const struct route_args &a, const block_rows &rows, uint32_t number) {
    const route_lists lists = lists_of_row<Shape>(a, number);
    const logit_row<Shape> row = rows.logits<Shape>(a, number, lists);
    const uint32_t experts = row.experts(), wanted = a.wanted; /* stores might change what `a` refers to */
    TOPK_REACHED(REACHED_ROUTE_WAY_OUT);
    simt_warp_sync(SIMT_ALL_LANES);
#pragma unroll 1
    for (uint32_t e = simt_lane(); e < experts; e += SIMT_WARP)
        lists.keys[e] = score_key(row.score(e, row.logit(e)), a.nan_key);
    if (a.groups != 0)
        drop_groups(a, lists.keys);
    for (uint32_t slot = 0; slot < wanted; slot++) {
        uint32_t best = SCORE_KEY_ABSENT, expert = 0;
#pragma unroll 4
        for (uint32_t e = simt_lane(); e < experts; e += SIMT_WARP) { /* no other lane's keys */
            const uint32_t key = lists.keys[e];
            expert = key > best ? e : expert;
            best = key > best ? key : best;
        }
        const bool is_best = best == simt_reduce_max(SIMT_ALL_LANES, best);
        const uint32_t chosen = simt_reduce_min(SIMT_ALL_LANES, is_best ? expert : ~0u);
        if (chosen % SIMT_WARP == simt_lane()) {
            lists.keys[chosen] = SCORE_KEY_ABSENT;
            lists.experts[slot] = (uint16_t)chosen;
        }
    }
}

#endif
