/* SPDX-License-Identifier: Apache-2.0
 * The kernels: a row for each block, or for each cluster. */
#ifndef TOPK_SRC_CUDA_RESIDENT_ROW_CUH
#define TOPK_SRC_CUDA_RESIDENT_ROW_CUH

#include "results.cuh"
#include "search.cuh"

/* Lists all that is at or above the sample's bound, if few samples are, and returns how many these are: more
 * than the list has room for if the sample misled. 0: there is no such bound. All threads; one barrier. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE struct row_count list_bound(const row_part<Element, ITEMS> &part, const struct sample_plan &plan,
                                        const sampled_pivots<Element> &p, const row_memory<Element, Team> &m,
                                        uint32_t *turn) {
    const bool is_plateau = p.rank > 2 * plan.most + RESIDENT_UNEVEN || p.rank > RESIDENT_LIST / 2;
    if (!plan.is_bound || !is_few(plan.most) || p.lower == 0 || is_plateau)
        return row_count{0, 0};
    const uint32_t hits = hits_of_pivot(part.held, p.lower);
    if constexpr (Team::IS_CLUSTER) {
        list_uncounted(part, hits, m, RESIDENT_LIST);
        return sums_of(simt_reduce_add(SIMT_ALL_LANES, simt_popc(hits)), m, turn).lower;
    } else {
        list_if_few(part, hits, m, RESIDENT_LIST);
        simt_block_sync();
        return row_count{m.slots[LISTED_ENTRIES], 0};
    }
}

/* What a block does while its row is on its way: it clears its lists, and plans the sample. All threads. */
template <typename Element, uint32_t ITEMS, typename Team> struct row_preparation {
    static const bool WORKS = true;
    const team_task<Element, Team> &t;
    struct sample_plan *plan;

    TOPK_MEMBER void operator()(void) const {
        const uint32_t length = (uint32_t)t.r.length;
        Team::begin();
        clear_lists(t.memory, Team::BY_POSITION);
        *plan = plan_sample<ITEMS, Team>(length, (uint32_t)t.r.k, warps_of_row<Element, ITEMS, Team>(length));
    }
};

/* Brings the row into registers. All threads. */
template <uint32_t ITEMS, typename Element, typename Team, typename Who>
TOPK_DEVICE row_part<Element, ITEMS> hold_row_of(const team_task<Element, Team> &t, const Who &who,
                                                 struct sample_plan *plan) {
    const row_part<Element, ITEMS> part =
        hold_part<Element, ITEMS, Team>(t.a.rows, t.r, who, row_preparation<Element, ITEMS, Team>{t, plan});
    Team::wait();
    return part;
}

/* Finds a range that holds the k-th code; or, if a sample tells enough, writes the results and returns false.
 * All threads, with empty lists. */
template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE bool begin_search(const team_task<Element, Team> &t, const row_part<Element, ITEMS> &part,
                              const struct sample_plan &plan, bool is_kth, uint32_t *turn,
                              code_bracket<Element> *b) {
    const row_memory<Element, Team> &m = t.memory;
    const uint32_t k = (uint32_t)t.r.k;
    const sampled_pivots<Element> pivots = sample_pivots(part, plan, m);
    const struct row_count listed = list_bound(part, plan, pivots, m, turn);
    if (listed.all != 0 && listed.all <= RESIDENT_LIST) {
        if (Team::rank() != 0)
            return false;
        if constexpr (Team::BY_POSITION)
            write_entries_by_position(t, listed.all);
        else if (is_kth)
            write_class_of_entries(t, listed.all, k, 0);
        else
            write_ranked_entries(t, listed.all, 0);
        return false;
    }
    if (listed.all == 0) {
        *b = sampled_bracket(part, pivots, k, m, turn);
        return true;
    }
    TOPK_REACHED(Team::IS_CLUSTER ? REACHED_RESIDENT_CLUSTER_OVERFLOW : REACHED_RESIDENT_OVERFLOW);
    simt_block_sync();
    clear_lists(m, Team::BY_POSITION);
    *b = code_bracket<Element>{pivots.lower, 0, listed, {0, 0}, hits_of_pivot(part.held, pivots.lower), 0};
    bound_by_greatest(part, m, b);
    return true;
}

/* Writes the k best, or the k-th class, of a row that has k elements at least. All threads. */
template <uint32_t ITEMS, typename Element, typename Team>
TOPK_DEVICE void select_best(const team_task<Element, Team> &t) {
    struct sample_plan plan;
    const row_part<Element, ITEMS> part = hold_row_of<ITEMS>(t, all_elements{}, &plan);
    code_bracket<Element> b = {};
    uint32_t turn = 0;
    if (!begin_search(t, part, plan, t.a.is_kth, &turn, &b))
        return;
    narrow_bracket(t, part, t.a.is_kth, &turn, &b);
    if (t.a.is_kth)
        write_class(t, part, b);
    else
        write_best(t, part, b, turn);
}

/* Calls work() with the task of each row that is the team's. All threads. */
template <typename Element, typename Team, typename Work>
TOPK_DEVICE void for_rows_of_team(const struct resident_args &a, const Work &work) {
    simt_arena arena = simt_shared_arena();
    const row_memory<Element, Team> memory = carve_row<Element, Team>(arena, a, simt_threads());
    const uint32_t first = simt_block() / Team::blocks(), teams = simt_blocks() / Team::blocks();
    if (is_called_off(a.rows))
        return;
    for (int64_t row = first; row < a.rows.rows; row += teams) {
        if (row != first) {
            TOPK_REACHED(Team::IS_CLUSTER ? REACHED_RESIDENT_CLUSTER_NEXT_ROW : REACHED_RESIDENT_NEXT_ROW);
            sync_team<Team>();
        }
        work(team_task<Element, Team>{a, memory, row, row_at(a.rows, row)});
    }
}

template <typename Element, uint32_t ITEMS, typename Team>
TOPK_DEVICE void select_rows(const struct resident_args &a) {
    for_rows_of_team<Element, Team>(a, [&](const team_task<Element, Team> &task) TOPK_LAMBDA {
        const struct row &r = task.r;
        if (a.is_kth && (r.wanted == 0 || r.wanted > r.length))
            write_no_class(task);
        else if (r.k > 0)
            select_best<ITEMS>(task);
        if (!a.is_kth)
            pad_row<Element>(a.rows, task.row, r, share_of_team<Team>());
    });
}

template <typename Element, uint32_t ITEMS, typename Team>
TOPK_KERNEL TOPK_BOUNDS(RESIDENT_THREADS_MAX, 1) void resident_row(struct resident_args a) {
    select_rows<Element, ITEMS, Team>(a);
}

template <typename Element, uint32_t ITEMS, typename Team>
TOPK_KERNEL TOPK_BOUNDS(RESIDENT_CLUSTER_THREADS, 2) void resident_cluster(struct resident_args a) {
    select_rows<Element, ITEMS, Team>(a);
}

#endif
