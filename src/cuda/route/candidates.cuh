/* SPDX-License-Identifier: Apache-2.0
 * From a row's candidates, which are few, to its results: each is ranked among all of them. */
#ifndef TOPK_SRC_CUDA_ROUTE_CANDIDATES_CUH
#define TOPK_SRC_CUDA_ROUTE_CANDIDATES_CUH

#include "lists.cuh"

/* The sum over the row's lanes before this one; *total over all. All lanes. */
template <uint32_t LANES> TOPK_DEVICE uint32_t scan_row(uint32_t value, uint32_t *total) {
    const uint32_t lane = simt_lane() % LANES;
    uint32_t sum = value;
#pragma unroll
    for (uint32_t lanes = 1; lanes < LANES; lanes *= 2) {
        const uint32_t before = simt_shuffle_up(SIMT_ALL_LANES, sum, lanes);
        sum += lane >= lanes ? before : 0;
    }
    *total = simt_shuffle(SIMT_ALL_LANES, sum, simt_lane() | (LANES - 1));
    return sum - value;
}

/* Lists the lane's candidates from `slot` on. */
template <uint32_t LANES>
TOPK_DEVICE void list_candidates(uint32_t hits, uint32_t slot, const row_lists &lists) {
    for (; hits != 0; hits &= hits - 1)
        lists.items[slot++] = (uint16_t)((simt_ffs(hits) - 1) * LANES + simt_lane() % LANES);
}

/* Lists the best of so many candidates as results. All lanes. */
template <typename Element, uint32_t LANES, uint32_t ITEMS>
TOPK_DEVICE void rank_candidates(const logit_row<Element> &row, uint32_t count, const row_lists &lists) {
    const uint32_t lane = simt_lane() % LANES;
    simt_warp_sync(SIMT_ALL_LANES);
    for (uint32_t slot = lane; slot < count; slot += LANES) {
        const uint32_t item = (uint16_t)lists.items[slot];
        const uint32_t expert = logit_shape<Element, LANES, ITEMS>::expert_of(item % LANES, item / LANES);
        const uint32_t key = score_key(row.score(expert, row.logit(expert)), row.a.nan_key);
        lists.entries[slot] = entry_of(key, expert);
    }
    simt_warp_sync(SIMT_ALL_LANES);
    for (uint32_t slot = lane; slot < count; slot += LANES) {
        const uint64_t mine = lists.entries[slot];
        uint32_t rank = 0;
#pragma unroll 4
        for (uint32_t other = 0; other < count; other++)
            rank += lists.entries[other] > mine ? 1 : 0;
        if (rank < (uint32_t)row.a.rows.k_max) {
            lists.experts[rank] = ~(uint32_t)mine;
            lists.logits[rank] = row.logit(~(uint32_t)mine);
        }
    }
}

#endif
