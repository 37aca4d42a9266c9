/* SPDX-License-Identifier: Apache-2.0
 * Rows whose threshold misled: fewer than k elements survived, or more than there is room for. Their exact
 * threshold leaves k survivors. */
#ifndef TOPK_SRC_CUDA_SORT_MISLED_CUH
#define TOPK_SRC_CUDA_SORT_MISLED_CUH

#include "../tiles.cuh"
#include "threshold.cuh"

struct misled_shared {
    struct search_shared search;
    simt_shared<uint64_t> ticket;
};

template <typename Element> TOPK_HOST_DEVICE struct misled_shared carve_misled(simt_arena &arena) {
    struct misled_shared s = {};
    s.search = carve_search<Element>(arena);
    s.ticket = simt_carve<uint64_t>(arena, 1);
    return s;
}

TOPK_DEVICE bool is_misled(const struct sort_args &a, int64_t in_group) {
    const struct row r = row_of(a, a.first_row + in_group);
    const uint64_t survivors =
        simt_load_relaxed(&a.filter.starts[in_group + 1]) - simt_load_relaxed(&a.filter.starts[in_group]);
    return survivors < (uint64_t)r.k || survivors > (uint64_t)a.filter.room;
}

/* Whether any row of the group is. All threads. A block that begins late may see starts of this launch; then
 * others do all the work. */
template <typename Element> TOPK_DEVICE bool is_any_misled(const struct sort_args &a) {
    bool any = false;
    for (int64_t in_group = simt_thread(); in_group < a.group_rows; in_group += simt_threads())
        any = any || is_misled(a, in_group);
    return simt_block_count(any) != 0;
}

/* All keys of a row. */
template <typename Element> struct keys_of_row {
    const struct sort_args &a;
    const struct row &r;

    template <typename Work> TOPK_MEMBER void for_each(const Work &work) const {
        const Element *values = row_values<Element>(a.rows, r);
#pragma unroll 4
        for (int64_t at = simt_thread(); at < r.length; at += simt_threads())
            work(key_of<Element>(values[at], a.rows.map));
    }
};

/* Among ties in the order of positions, s.until becomes `end` of number `rank`; `before` of them come
 * before the ties of the block's threads. Returns how many come before the next ones. All threads; ends with
 * a barrier. */
TOPK_DEVICE uint32_t find_tie(const struct search_shared &s, bool ties, uint32_t before, uint32_t rank,
                              int64_t end) {
    const uint32_t of_warp = simt_ballot(SIMT_ALL_LANES, ties), lower = (1u << simt_lane()) - 1;
    uint32_t total;
    const uint32_t nearer = scan_of_warps(s.scratch, simt_popc(of_warp), &total) + simt_popc(of_warp & lower);
    if (ties && before + nearer + 1 == rank)
        s.until[0] = (uint64_t)end;
    simt_block_sync();
    return before + total;
}

/* The position behind number `rank` of the row's elements with this key. All threads; ends with a barrier. */
template <typename Element>
TOPK_DEVICE int64_t end_of_ties(const struct sort_args &a, const struct search_shared &s, const struct row &r,
                                key_word_t<Element> key, uint32_t rank) {
    const Element *values = row_values<Element>(a.rows, r);
    uint32_t before = 0;
    for (int64_t first = 0; before < rank; first += simt_threads()) {
        const int64_t at = first + simt_thread();
        const bool ties = at < r.length && key_of<Element>(values[at], a.rows.map) == key;
        before = find_tie(s, ties, before, rank, at + 1);
    }
    return (int64_t)(uint64_t)s.until[0];
}

/* Gives misled rows an exact threshold. Tickets hand rows to blocks; a block goes on once all rows are
 * settled, by blocks that run. All threads. */
template <typename Element>
TOPK_DEVICE void settle_rows(const struct sort_args &a, const struct misled_shared &s) {
    while (true) {
        if (simt_thread() == 0)
            s.ticket[0] = simt_atomic_add(a.filter.row_ticket, (uint64_t)1);
        simt_block_sync();
        const int64_t in_group = (int64_t)(uint64_t)s.ticket[0];
        if (in_group >= a.group_rows)
            break;
        if (is_misled(a, in_group)) {
            const struct row r = row_of(a, a.first_row + in_group);
            TOPK_REACHED(REACHED_SORT_MISLED);
            const ranked_key<key_word_t<Element>> found =
                key_of_rank<Element>(s.search, keys_of_row<Element>{a, r}, (uint32_t)r.k);
            const int64_t until =
                end_of_ties<Element>(a, s.search, r, found.key, (uint32_t)r.k - found.above);
            if (simt_thread() == 0) {
                a.filter.thresholds[in_group] = found.key;
                a.filter.until[in_group] = until;
            }
        }
        if (simt_thread() == 0)
            simt_store_release(&a.filter.settled[in_group], 1);
        simt_block_sync();
    }
    for (int64_t in_group = simt_thread(); in_group < a.group_rows; in_group += simt_threads())
        while (simt_load_acquire(&a.filter.settled[in_group]) == 0) {
        }
    simt_block_sync();
}

#endif
