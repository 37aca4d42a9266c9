/* SPDX-License-Identifier: Apache-2.0
 * The kernel for rows of one length with up to 32 results each: a warp serves one or two rows at once. */
#ifndef TOPK_SRC_CUDA_RTOPK_SMALL_K_CUH
#define TOPK_SRC_CUDA_RTOPK_SMALL_K_CUH

#include "choose.cuh"
#include "row.cuh"

/* Indices of candidates, RTOPK_LIST_SLOTS for each row of each warp. */
enum { WARP_SLOTS = RTOPK_ROWS_OF_WARP * RTOPK_LIST_SLOTS };

TOPK_HOST_DEVICE simt_shared<uint16_t> carve_small_k_lists(simt_arena &arena) {
    return simt_carve<uint16_t>(arena, RTOPK_THREADS / SIMT_WARP * WARP_SLOTS);
}

/* This warp's. */
TOPK_DEVICE simt_shared<uint16_t> small_k_lists(void) {
    simt_arena arena = simt_shared_arena();
    return simt_shared_part(carve_small_k_lists(arena), simt_warp() * WARP_SLOTS, WARP_SLOTS);
}

/* The candidates of row `r` of those that the warp serves at once. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE uniform_task<Element> task_of(const struct rtopk_args &a, int64_t row, uint32_t r,
                                          const lead_row<Element, ITEMS> &held, simt_shared<uint16_t> lists) {
    return uniform_task<Element>{a, held.values, row * a.rows.k_max, held.left,
                                 simt_shared_part(lists, r * RTOPK_LIST_SLOTS, RTOPK_LIST_SLOTS)};
}

/* Tries to serve a row where too many elements reach the first threshold. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE bool serve_crowded(const struct rtopk_args &a, simt_shared<uint16_t> lists, int64_t row) {
    lead_row<Element, ITEMS> rows[1];
    struct lead_search searches[1];
    load_row(uniform_row<Element>(a, row), a.uniform, &rows[0]);
    make_leads(a.uniform, &rows[0]);
    find_thresholds(rows, a.uniform, searches);
    struct lead_search &s = searches[0];
    s.count = count_leads(rows[0], s.threshold);
    const uniform_task<Element> task = task_of(a, row, 0, rows[0], lists);
    if (s.threshold == 0 || s.count <= RTOPK_FEW || !list_crowded(rows[0], a.uniform, &s, task.list))
        return false;
    simt_warp_sync(SIMT_ALL_LANES);
    return s.count <= SIMT_WARP ? write_row<Element, 1>(task, s) : write_row<Element, 2>(task, s);
}

/* Serves a row by itself. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_NOINLINE void serve_alone(const struct rtopk_args &a, int64_t row) {
    const warp_lists<Element> lists = {small_k_lists(), {}, {}};
    TOPK_REACHED(REACHED_RTOPK_ALONE);
    simt_warp_sync(SIMT_ALL_LANES); /* the rows before this one have been written */
    if (row < a.uniform.safe_rows && serve_crowded<Element, ITEMS>(a, lists.positions, row))
        return;
    TOPK_REACHED(REACHED_RTOPK_GENERAL);
    select_best<Element, ITEMS>(row_task<Element>{a, row, row_at(a.rows, row), lists});
}

/* Writes the results of one or two rows, which have up to 32 listed candidates; returns the bits of those
 * that it could not. All lanes. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE uint32_t write_rows(const struct rtopk_args &a, simt_shared<uint16_t> lists, int64_t first,
                                const lead_row<Element, ITEMS> (&rows)[2],
                                const struct lead_search (&searches)[2]) {
    const uniform_task<Element> one = task_of(a, first, 0, rows[0], lists),
                                other = task_of(a, first + 1, 1, rows[1], lists);
    if (a.is_sorted) {
        const bool is_written = write_row<Element, 1>(one, searches[0]);
        return (is_written ? 0 : 1) | (write_row<Element, 1>(other, searches[1]) ? 0 : 2);
    }
    write_any_of_two(one, load_candidates<Element, 1>(one, searches[0]), other,
                     load_candidates<Element, 1>(other, searches[1]), a.uniform.k);
    return 0;
}

template <typename Element, uint32_t ITEMS>
TOPK_DEVICE uint32_t write_rows(const struct rtopk_args &a, simt_shared<uint16_t> lists, int64_t first,
                                const lead_row<Element, ITEMS> (&rows)[1],
                                const struct lead_search (&searches)[1]) {
    return write_row<Element, 1>(task_of(a, first, 0, rows[0], lists), searches[0]) ? 0 : 1;
}

/* Serves rows that may have more than 32 candidates; returns the bits of those that it could not. All lanes.
 */
template <typename Element, uint32_t ITEMS, uint32_t ROWS>
TOPK_DEVICE uint32_t serve_many_candidates(const struct rtopk_args &a, simt_shared<uint16_t> lists,
                                           int64_t first, const lead_row<Element, ITEMS> (&rows)[ROWS],
                                           const struct lead_search (&searches)[ROWS],
                                           const hit_counts<Element, ITEMS, ROWS> &before,
                                           const hit_counts<Element, ITEMS, ROWS> &totals) {
    enum listing listings[ROWS];
    uint32_t failed = 0;
#pragma unroll
    for (uint32_t r = 0; r < ROWS; r++)
        listings[r] = list_many(rows[r], r, a.uniform, before, totals, searches[r],
                                simt_shared_part(lists, r * RTOPK_LIST_SLOTS, RTOPK_LIST_SLOTS));
    simt_warp_sync(SIMT_ALL_LANES);
#pragma unroll
    for (uint32_t r = 0; r < ROWS; r++) {
        const uniform_task<Element> task = task_of(a, first + r, r, rows[r], lists);
        bool is_written = listings[r] == LIST_RESULTS;
        if (listings[r] == LIST_CANDIDATES)
            is_written = write_row<Element, 2>(task, searches[r]);
        else if (is_written && simt_lane() < a.uniform.k)
            task.write(simt_lane(), task.element(task.position(simt_lane())), task.position(simt_lane()));
        failed |= is_written ? 0 : 1u << r;
    }
    return failed;
}

/* Serves rows `first` to first + ROWS - 1, which are safe; returns the bits of those that it could not. All
 * lanes.
 */
template <typename Element, uint32_t ITEMS, uint32_t ROWS>
TOPK_DEVICE uint32_t serve_rows(const struct rtopk_args &a, simt_shared<uint16_t> lists, int64_t first) {
    const struct uniform_rows &u = a.uniform;
    lead_row<Element, ITEMS> rows[ROWS];
    struct lead_search searches[ROWS];
    hit_counts<Element, ITEMS, ROWS> before, totals;
    const Element *values = uniform_row<Element>(a, first);
#pragma unroll
    for (uint32_t r = 0; r < ROWS; r++)
        load_row(values + r * a.rows.row_stride, u, &rows[r]);
#pragma unroll
    for (uint32_t r = 0; r < ROWS; r++)
        make_leads(u, &rows[r]);
    find_thresholds(rows, u, searches);
    count_candidates(rows, u, searches, &before, &totals);
    bool is_few = true;
#pragma unroll
    for (uint32_t r = 0; r < ROWS; r++)
        is_few = is_few && searches[r].count - u.k <= SIMT_WARP - u.k;
    if (is_few) {
#pragma unroll
        for (uint32_t r = 0; r < ROWS; r++)
            list_candidates<false>(rows[r], r, u, searches[r].threshold, before, totals,
                                   simt_shared_part(lists, r * RTOPK_LIST_SLOTS, RTOPK_LIST_SLOTS));
        simt_warp_sync(SIMT_ALL_LANES);
        return write_rows(a, lists, first, rows, searches);
    }
    return serve_many_candidates(a, lists, first, rows, searches, before, totals);
}

template <typename Element, uint32_t ITEMS, uint32_t ROWS = ITEMS <= RTOPK_ITEMS_OF_TWO ? 2 : 1>
TOPK_KERNEL
TOPK_BOUNDS(RTOPK_THREADS,
            row_blocks<Element>(ITEMS)) void rtopk_small_k(TOPK_CONSTANT_ARGS struct rtopk_args a) {
    if (is_called_off(a.rows))
        return;
    const int64_t row = ((int64_t)simt_block() * simt_warps() + simt_warp()) * ROWS;
    uint32_t alone = (1u << ROWS) - 1;
    if (row + ROWS <= a.uniform.safe_rows)
        alone = serve_rows<Element, ITEMS, ROWS>(a, small_k_lists(), row);
    if (alone != 0) {
#pragma unroll 1
        for (uint32_t r = 0; r < ROWS; r++)
            if ((alone >> r & 1) != 0 && row + r < a.rows.rows)
                serve_alone<Element, ITEMS>(a, row + r);
    }
    if (a.uniform.has_padding)
        for (uint32_t r = 0; r < ROWS && row + r < a.rows.rows; r++)
            write_uniform_rest<Element>(a, row + r);
}

#endif
