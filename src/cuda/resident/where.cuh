/* SPDX-License-Identifier: Apache-2.0
 * The kernels of a select_where: a row for each block or cluster, which holds its matches. */
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
template <uint32_t ITEMS, typename Element, typename Team>
TOPK_DEVICE uint32_t select_matches(team_task<Element, Team> t, const struct predicate_args &predicate) {
    uint32_t turn = 0;
    struct sample_plan plan;
    row_part<Element, ITEMS> part = hold_row_of<ITEMS>(t, matching_elements<Element>{predicate}, &plan);
    part.count =
        sums_of(simt_reduce_add(SIMT_ALL_LANES, simt_popc(part.held.matches)), t.memory, &turn).lower;
    t.r.k = t.r.k < part.count.all ? t.r.k : part.count.all;
    code_bracket<Element> b = whole_bracket(part);
    if (part.count.all <= few_candidates<Team>(t.a.is_sorted) || part.count.all == t.r.k)
        TOPK_REACHED(REACHED_RESIDENT_FEW_MATCHES);
    else if (!begin_search(t, part, plan, false, &turn, &b))
        return (uint32_t)t.r.k;
    narrow_bracket(t, part, false, &turn, &b);
    write_best(t, part, b, turn);
    return (uint32_t)t.r.k;
}

template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE void select_matches_of_rows(const struct resident_where_args &a) {
    for_rows_of_team<Element, Team>(a.of_row, [&](const team_task<Element, Team> &task) TOPK_LAMBDA {
        struct row r = task.r;
        if (r.k > 0)
            r.k = select_matches<ITEMS>(task, a.predicate);
        pad_row<Element>(a.of_row.rows, task.row, r, share_of_team<Team>());
    });
}

template <typename Element, uint32_t ITEMS, typename Team>
TOPK_KERNEL TOPK_BOUNDS(RESIDENT_THREADS_MAX, 1) void resident_where(struct resident_where_args a) {
    select_matches_of_rows<Element, ITEMS, Team>(a);
}

template <typename Element, uint32_t ITEMS, typename Team>
TOPK_KERNEL TOPK_BOUNDS(RESIDENT_CLUSTER_THREADS,
                        2) void resident_cluster_where(struct resident_where_args a) {
    select_matches_of_rows<Element, ITEMS, Team>(a);
}

#endif
