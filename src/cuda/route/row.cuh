/* SPDX-License-Identifier: Apache-2.0
 * The kernel: some lanes for each row. */
#ifndef TOPK_SRC_CUDA_ROUTE_ROW_CUH
#define TOPK_SRC_CUDA_ROUTE_ROW_CUH

#include "candidates.cuh"
#include "exact.cuh"
#include "groups.cuh"
#include "results.cuh"

/* Finds the items that may be among the row's best, a bit for each. Returns whether this is certain: no score
 * is NaN, the best groups are known, and at least as many scores as results are above -infinity. All lanes.
 */
template <typename Shape>
TOPK_DEVICE bool find_candidates(const logit_row<Shape> &row, const float (&scores)[Shape::ITEMS],
                                 uint32_t *hits) {
    const bool has_groups = !Shape::IS_PLAIN && row.a.groups != 0;
    bool is_certain = !has_groups || row.a.pieces_of_group != 0;
    uint32_t items = ~0u;
    best_two greatest;
    if (has_groups && is_certain)
        items = keep_groups<Shape>(row.a, scores, row.lists.pieces, &greatest, &is_certain);
    else
        greatest = greatest_of(scores);
    is_certain &= greatest.first == greatest.first && greatest.second == greatest.second;
    float threshold = lower_bound_of<Shape::LANES>(row.a, greatest, has_groups);
    if (row.by_sigmoid())
        threshold -= 4 * error_of(threshold); /* NaN for +infinity */
    is_certain &= threshold > minus_infinity();
    *hits = items & items_from(scores, threshold);
    return is_certain;
}

/* Lists the results of the warp's rows, and calls meanwhile() once the scores are of no more use. All lanes.
 */
template <typename Shape, typename Meanwhile>
TOPK_DEVICE void choose_best(const logit_row<Shape> &row, const block_rows &rows,
                             const float (&scores)[Shape::ITEMS], Meanwhile meanwhile) {
    typedef candidate_room<Shape::LANES> list;
    const uint32_t ones = ~0u >> (SIMT_WARP - Shape::LANES),
                   first_lane = simt_lane() / Shape::LANES * Shape::LANES;
    uint32_t hits, count;
    const bool is_certain = find_candidates(row, scores, &hits);
    const uint32_t slot = scan_row<Shape::LANES>(simt_popc(hits), &count);
    const bool fits = count >= row.a.wanted && count <= list::ROOM;
    const uint32_t failed = simt_ballot(SIMT_ALL_LANES, !is_certain || !fits);
    if ((failed >> first_lane & ones) != 0)
        hits = count = 0;
    for (uint32_t r = 0; failed != 0 && r < Shape::ROWS; r++)
        if ((failed >> r * Shape::LANES & ones) != 0)
            choose_exactly<Shape>(row.a, rows, simt_warp() * Shape::ROWS + r);
    meanwhile();
    list_candidates<Shape>(hits, slot + simt_popc(hits), row.lists);
    if (!simt_any(SIMT_ALL_LANES, count > list::ROOM / 2))
        rank_candidates<Shape, list::SLOTS / 2>(row, count);
    else
        rank_candidates<Shape, list::SLOTS>(row, count);
}

/* Blocks for each multiprocessor: as many as leave each thread the registers that its items need. */
template <typename Shape> constexpr uint32_t row_blocks(void) {
    const uint32_t bytes = sizeof(typename Shape::Element);
    if (Shape::IS_AHEAD)
        return bytes == 8 ? ROUTE_WIDE_BLOCKS_AHEAD : ROUTE_BLOCKS_AHEAD;
    if (Shape::ITEMS < 16)
        return 12;
    if (Shape::ITEMS < 32)
        return bytes == 8 ? 9 : 10;
    return bytes == 8 ? 6 : 8;
}

template <typename Shape>
TOPK_KERNEL TOPK_BOUNDS(ROUTE_THREADS,
                        row_blocks<Shape>()) void route_row(TOPK_CONSTANT_ARGS struct route_args a) {
    const uint32_t rows_of_block = rows_at_once<Shape>(), row = simt_thread() / Shape::LANES;
    const int64_t stride = (int64_t)simt_blocks() * rows_of_block;
    const route_lists lists = lists_of_row<Shape>(a, row);
    int64_t first = (int64_t)simt_block() * rows_of_block;
    if (is_called_off(a.rows) || first >= a.rows.rows)
        return;
    lane_groups<Shape> ahead;
    thread_biases<Shape> biases = {};
    bool are_listed = Shape::IS_AHEAD;
    if (Shape::IS_AHEAD) {
        const logit_row<Shape> logits = rows_of<Shape>(a, first).template logits<Shape>(a, row, lists);
        load_ahead(logits, &ahead);
        if (logits.has_biases()) {
            load_biases(a, &biases);
            list_biases(biases, lists.biases);
        }
    }
    for (; first < a.rows.rows; are_listed = true) {
        const block_rows rows = rows_of<Shape>(a, first);
        const logit_row<Shape> logits = rows.template logits<Shape>(a, row, lists);
        first += stride;
        if (a.wanted > 0) {
            if (Shape::IS_PLAIN)
                TOPK_REACHED(REACHED_ROUTE_PLAIN);
            float scores[Shape::ITEMS];
            if constexpr (Shape::IS_AHEAD)
                hold_copied(logits, ahead, scores);
            else
                hold_logits(logits, scores);
            if (!are_listed && logits.has_biases())
                load_biases(a, &biases);
            score_nearly(logits, biases, are_listed, scores);
            choose_best(logits, rows, scores, [&]() TOPK_LAMBDA {
                if (!Shape::IS_AHEAD || first >= a.rows.rows)
                    return;
                TOPK_REACHED(REACHED_ROUTE_AHEAD);
                load_ahead(rows_of<Shape>(a, first).template logits<Shape>(a, row, lists), &ahead);
            });
        }
        write_results(logits, rows, row);
        simt_warp_sync(SIMT_ALL_LANES);
        if (first < a.rows.rows)
            TOPK_REACHED(REACHED_ROUTE_NEXT_ROW);
    }
}

#endif
