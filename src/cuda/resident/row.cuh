/* SPDX-License-Identifier: Apache-2.0
 * The kernel: a row for each block. */
#ifndef TOPK_SRC_CUDA_RESIDENT_ROW_CUH
#define TOPK_SRC_CUDA_RESIDENT_ROW_CUH

#include "results.cuh"
#include "search.cuh"

/* Lists all that is at or above the sample's bound, if few samples are, and returns how many these are: more
 * than the list has room for if the sample misled. 0: there is no such bound. All threads; one barrier. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE uint32_t list_bound(const row_part<Element, ITEMS> &part, const struct sample_plan &plan,
                                const sampled_pivots<Element> &p, const row_memory<Element> &m) {
    const bool is_plateau = p.rank > 2 * plan.most + RESIDENT_UNEVEN || p.rank > RESIDENT_LIST / 2;
    if (!plan.is_bound || !is_few(plan.most) || p.lower == 0 || is_plateau)
        return 0;
    list_entries(part, hits_of_pivot(part.held, p.lower), m, RESIDENT_LIST);
    simt_block_sync();
    return m.slots[LISTED_ENTRIES];
}

/* What a block does while its row is on its way: it clears its lists, and plans the sample. All threads. */
template <typename Element, uint32_t ITEMS> struct row_preparation {
    static const bool WORKS = true;
    const row_task<Element> &t;
    struct sample_plan *plan;

    TOPK_MEMBER void operator()(void) const {
        const uint32_t length = (uint32_t)t.r.length;
        clear_lists(t.memory);
        *plan = plan_sample<ITEMS>(length, (uint32_t)t.r.k, warps_of_row<Element, ITEMS>(length));
    }
};

/* Finds a range that holds the k-th code; or, if a sample tells enough, writes the results and returns false.
 * All threads, with empty lists. */
template <typename Element, uint32_t ITEMS>
TOPK_DEVICE bool begin_search(const row_task<Element> &t, const row_part<Element, ITEMS> &part,
                              const struct sample_plan &plan, bool is_kth, uint32_t *half,
                              code_bracket<Element> *b) {
    const row_memory<Element> &m = t.memory;
    const uint32_t k = (uint32_t)t.r.k;
    const sampled_pivots<Element> pivots = sample_pivots(part, plan, m);
    const uint32_t listed = list_bound(part, plan, pivots, m);
    if (listed != 0 && listed <= RESIDENT_LIST) {
        if (is_kth)
            write_class_of_entries(t, listed, k, 0);
        else
            write_ranked_entries(t, listed, 0);
        return false;
    }
    if (listed == 0) {
        *b = sampled_bracket(part, pivots, k, m, half);
    } else {
        TOPK_REACHED(REACHED_RESIDENT_OVERFLOW);
        simt_block_sync();
        clear_lists(m);
        *b = code_bracket<Element>{pivots.lower, 0, listed, 0, hits_of_pivot(part.held, pivots.lower), 0};
        bound_by_greatest(part, m, b);
    }
    return true;
}

/* Writes the k best, or the k-th class, of a row that has k elements at least. All threads. */
template <typename Element, uint32_t ITEMS> TOPK_DEVICE void select_best(const row_task<Element> &t) {
    struct sample_plan plan;
    const row_part<Element, ITEMS> part =
        hold_part<Element, ITEMS>(t.a.rows, t.r, all_elements{}, row_preparation<Element, ITEMS>{t, &plan});
    code_bracket<Element> b = {};
    uint32_t half = 0;
    if (!begin_search(t, part, plan, t.a.is_kth, &half, &b))
        return;
    narrow_bracket(part, (uint32_t)t.r.k, t.a.is_kth, t.memory, &half, &b);
    if (t.a.is_kth)
        write_class(t, part, b);
    else
        write_best(t, part, b, &half);
}

/* Calls work() with the task of each row that is the block's. All threads. */
template <typename Element, typename Work>
TOPK_DEVICE void for_rows_of_block(const struct resident_args &a, const Work &work) {
    simt_arena arena = simt_shared_arena();
    const row_memory<Element> memory = carve_row<Element>(arena, a, simt_threads());
    if (is_called_off(a.rows))
        return;
    for (int64_t row = simt_block(); row < a.rows.rows; row += simt_blocks()) {
        if (row != simt_block()) {
            TOPK_REACHED(REACHED_RESIDENT_NEXT_ROW);
            simt_block_sync();
        }
        work(row_task<Element>{a, memory, row, row_at(a.rows, row)});
    }
}

template <typename Element, uint32_t ITEMS>
TOPK_KERNEL TOPK_BOUNDS(RESIDENT_THREADS_MAX, 1) void resident_row(struct resident_args a) {
    for_rows_of_block<Element>(a, [&](const row_task<Element> &task) TOPK_LAMBDA {
        const struct row &r = task.r;
        if (a.is_kth && (r.wanted == 0 || r.wanted > r.length))
            write_no_class(task);
        else if (r.k > 0)
            select_best<Element, ITEMS>(task);
        if (!a.is_kth)
            pad_row<Element>(a.rows, task.row, r, for_one_block());
    });
}

#endif
