/* SPDX-License-Identifier: Apache-2.0
 * The kernel of a select_where: a row for each block, which holds its matches. */
#ifndef TOPK_SRC_CUDA_RESIDENT_WHERE_CUH
#define TOPK_SRC_CUDA_RESIDENT_WHERE_CUH

#include "../select/matches.cuh"
#include "row.cuh"
#include "where.h"

/* Elements that match take part (part.cuh). */
template <typename Element> struct matching_elements {
    const struct predicate_args &predicate;

    template <typename Map>
    TOPK_MEMBER of_matches<Element, Map> of(const Map &map, const struct row &part) const {
        return of_matches<Element, Map>::of_row(map, predicate, part);
    }
};

/* Writes the k best of a row's matches, or all of them if they are fewer. Returns how many these are. All
 * threads. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE uint32_t select_matches(row_task<Element> t, const struct predicate_args &predicate) {
    uint32_t half = 0;
    struct sample_plan plan;
    row_part<Element, ITEMS> part = hold_part<Element, ITEMS>(
        t.a.rows, t.r, matching_elements<Element>{predicate}, row_preparation<Element, ITEMS>{t, &plan});
    part.count = sum_of_warps(simt_reduce_add(SIMT_ALL_LANES, simt_popc(part.held.matches)), t.memory, &half);
    t.r.k = t.r.k < part.count ? t.r.k : part.count;
    code_bracket<Element> b = whole_bracket(part);
    if (part.count <= few_candidates() || part.count == t.r.k)
        TOPK_REACHED(REACHED_RESIDENT_FEW_MATCHES);
    else if (!begin_search(t, part, plan, false, &half, &b))
        return (uint32_t)t.r.k;
    narrow_bracket(part, (uint32_t)t.r.k, false, t.memory, &half, &b);
    write_best(t, part, b, &half);
    return (uint32_t)t.r.k;
}

template <typename Element, uint32_t ITEMS>
TOPK_KERNEL TOPK_BOUNDS(RESIDENT_THREADS_MAX, 1) void resident_where(struct resident_where_args a) {
    for_rows_of_block<Element>(a.of_row, [&](const row_task<Element> &task) TOPK_LAMBDA {
        struct row r = task.r;
        if (r.k > 0)
            r.k = select_matches<Element, ITEMS>(task, a.predicate);
        pad_row<Element>(a.of_row.rows, task.row, r, for_one_block());
    });
}

#endif
