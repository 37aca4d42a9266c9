/* SPDX-License-Identifier: Apache-2.0
 * The kernel: LANES lanes for each row. */
#ifndef TOPK_SRC_CUDA_ROUTE_ROW_CUH
#define TOPK_SRC_CUDA_ROUTE_ROW_CUH

#include "candidates.cuh"
#include "exact.cuh"
#include "groups.cuh"
#include "results.cuh"

/* Lists the results of a row. The rows of a warp take the way out together. All lanes. */
template <typename Element, uint32_t LANES, uint32_t ITEMS>
TOPK_DEVICE void choose_best(const logit_row<Element> &row, const row_lists &lists) {
    near_scores<ITEMS> scores = near_scores_of<Element, LANES, ITEMS>(row);
    if (row.a.group_lanes != 0)
        keep_groups<Element, LANES>(row.a, &scores);
    else
        find_greatest(&scores);
    scores.is_certain &= row.a.group_lanes != 0 || row.a.groups == 0;
    const uint32_t hits = candidates_of<LANES>(row.a, scores);
    uint32_t count;
    const uint32_t slot = scan_row<LANES>(simt_popc(hits), &count);
    const bool fits = count >= row.a.wanted && count <= candidate_list<LANES>::ROOM;
    if (simt_all(SIMT_ALL_LANES, scores.is_certain && fits)) {
        list_candidates<LANES>(hits, slot + simt_popc(hits), lists);
        rank_candidates<Element, LANES, ITEMS>(row, count, lists);
    } else {
        TOPK_REACHED(REACHED_ROUTE_WAY_OUT);
        choose_exactly<Element, LANES>(row, lists);
    }
}

template <typename Element, uint32_t LANES, uint32_t ITEMS>
TOPK_KERNEL TOPK_BOUNDS(ROUTE_THREADS, ITEMS < 32 ? 8 : 6) void route_row(struct route_args a) {
    const uint32_t rows_of_warp = SIMT_WARP / LANES, rows_of_block = ROUTE_THREADS / LANES;
    simt_arena arena = simt_shared_arena();
    const row_lists lists = lists_of_row<LANES>(carve_lists<LANES>(arena, a), a, simt_thread() / LANES);
    if (is_called_off(a.rows))
        return;
    int64_t first = (int64_t)simt_block() * rows_of_block + simt_warp() * rows_of_warp;
    for (; first < a.rows.rows; first += (int64_t)simt_blocks() * rows_of_block) {
        const int64_t row = first + simt_lane() / LANES;
        const bool exists = row < a.rows.rows; /* otherwise the last row once more */
        const int64_t read = exists ? row : a.rows.rows - 1;
        if (a.wanted > 0) {
            const Element *logits = (const Element *)a.rows.values + read * a.rows.row_stride;
            choose_best<Element, LANES, ITEMS>(logit_row<Element>{a, logits}, lists);
        }
        write_results<LANES>(a, row, exists, lists);
        simt_warp_sync(SIMT_ALL_LANES);
        if (first + (int64_t)simt_blocks() * rows_of_block < a.rows.rows)
            TOPK_REACHED(REACHED_ROUTE_NEXT_ROW);
    }
}

#endif
