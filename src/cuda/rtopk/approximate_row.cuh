/* SPDX-License-Identifier: Apache-2.0
 * The kernel of approximate selections: a row for each warp or block. */
#ifndef TOPK_SRC_CUDA_RTOPK_APPROXIMATE_ROW_CUH
#define TOPK_SRC_CUDA_RTOPK_APPROXIMATE_ROW_CUH

#include "../select/matches.cuh"
#include "approximate.cuh"
#include "in_order.cuh"
#include "row.cuh"

/* Writes the positions of the results in ascending order. All threads. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE void collect_cut(const held_numbers<Element, ITEMS, WARPS> &held,
                             const number_cut<number_t<Element>> &cut, uint32_t k, row_team<WARPS> &team,
                             simt_shared<uint16_t> to) {
    uint32_t hits = hits_of_neighbours<Element, ITEMS>(number_hits_from(held, cut.low));
    if (cut.above > 0) {
        TOPK_REACHED(REACHED_RTOPK_WINNERS);
        const uint32_t winners = hits_of_neighbours<Element, ITEMS>(number_hits_from(held, cut.fewer));
        hits = winners | first_hits(hits & ~winners, k - cut.above, team);
    }
    put_in_order(held, hits, k, team, to);
}

/* Up to RTOPK_FEW results, sorted by one warp. All lanes. */
template <typename Element, uint32_t POSITIONS>
TOPK_DEVICE void sort_and_write_few(const row_task<Element> &t, uint32_t k) {
    typedef key_word_t<Element> word;
    warp_bracket<Element> bounds = {};
    const uint32_t second = SIMT_WARP + simt_lane();
    const word key = row_entry<Element>::key(t.entry(simt_lane() < k ? simt_lane() : 0, k));
    const word other = second < k ? row_entry<Element>::key(t.entry(second, k)) : key;
    bounds.low = simt_reduce_min(SIMT_ALL_LANES, key < other ? key : other);
    bounds.greatest = simt_reduce_max(SIMT_ALL_LANES, key > other ? key : other);
    write_few(t, sort_few<Element, POSITIONS>(few_listed(t, k), bounds, k), k);
}

/* Writes k results, whose positions are in the list. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE void write_chosen(const row_task<Element> &t, uint32_t k, const row_team<WARPS> &team) {
    if (!t.a.is_sorted) {
        write_unsorted(t, k, team);
    } else if (k <= RTOPK_FEW) {
        if (team.warp() == 0)
            sort_and_write_few<Element, WARPS == 1 ? SIMT_WARP * ITEMS : (uint32_t)RTOPK_APPROXIMATE_MAX>(t,
                                                                                                          k);
    } else if (WARPS == 1 || t.a.entries != 0) {
        write_sorted(t, k, t.lists, team);
    } else {
        TOPK_REACHED(REACHED_RTOPK_LISTED);
        write_sorted(t, k, listed_entries<Element>{t}, team);
    }
}

/* The row's elements as numbers: those that match, if there is a predicate. All threads. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE held_numbers<Element, ITEMS, WARPS> hold_numbers(const struct approximate_args &a,
                                                             const struct row &r, row_team<WARPS> &team) {
    const as_numbers<Element> map = {a.numbers};
    held_numbers<Element, ITEMS, WARPS> held;
    if (!a.predicate.is_given) {
        held = hold_row_as<Element, ITEMS, WARPS>(a.of_row.rows, r, map);
    } else {
        held = hold_row_as<Element, ITEMS, WARPS>(
            a.of_row.rows, r, of_matches<Element, as_numbers<Element>>::of_row(map, a.predicate, r));
        count_matches(team, &held);
    }
    orient_numbers<Element>(a.numbers, held.items);
    return held;
}

/* Writes a row. All threads of its team. */
template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_DEVICE void approximate_row(const struct approximate_args &a, int64_t row, struct row r,
                                 const warp_lists<Element> &lists, row_team<WARPS> &team) {
    if (r.k > 0) {
        held_numbers<Element, ITEMS, WARPS> held = hold_numbers<Element, ITEMS, WARPS>(a, r, team);
        r.k = r.k < held.count ? r.k : held.count;
        const row_task<Element> task = {a.of_row, row, r, lists};
        if (r.k > 0) {
            const number_cut<number_t<Element>> cut = find_cut(a, (uint32_t)r.k, team, &held);
            if (WARPS == 1)
                team.sync(); /* the row before this one has been written; blocks have met in find_cut() */
            collect_cut(held, cut, (uint32_t)r.k, team, lists.positions);
            team.sync();
            write_chosen<Element, ITEMS>(task, (uint32_t)r.k, team);
        }
    }
    for (int64_t slot = r.k + team.thread(); slot < a.of_row.rows.k_max; slot += team.THREADS)
        write_padding<Element>(a.of_row.rows, row, slot);
}

template <typename Element, uint32_t WARPS> struct approximate_shared {
    row_team<WARPS> team;
    warp_lists<Element> lists;
};

/* A block has the lists of each of its warps, or of its one team. */
template <typename Element, uint32_t WARPS>
TOPK_HOST_DEVICE approximate_shared<Element, WARPS> carve_approximate(simt_arena &arena,
                                                                      const struct rtopk_args &a) {
    approximate_shared<Element, WARPS> s;
    s.team = carve_team<WARPS>(arena);
    s.lists = carve_lists<Element>(arena, a, WARPS == 1 ? RTOPK_THREADS / SIMT_WARP : 1);
    return s;
}

constexpr uint32_t approximate_threads(uint32_t warps) {
    return warps == 1 ? (uint32_t)RTOPK_THREADS : warps * SIMT_WARP;
}

/* Blocks for each multiprocessor: as many as leave each thread the registers that its items need. */
template <typename Element> constexpr uint32_t approximate_blocks(uint32_t items, uint32_t warps) {
    const bool is_wide = sizeof(Element) == 8;
    const uint32_t resident = is_wide ? (items <= 8    ? 28
                                         : items <= 16 ? 16
                                                       : 12)
                                      : (items <= 8    ? 36
                                         : items <= 16 ? 32
                                                       : 24);
    const uint32_t of_block = approximate_threads(warps) / SIMT_WARP;
    return resident < of_block ? 1 : resident / of_block;
}

template <typename Element, uint32_t ITEMS, uint32_t WARPS>
TOPK_KERNEL
TOPK_BOUNDS(approximate_threads(WARPS),
            (approximate_blocks<Element>(ITEMS, WARPS))) void rtopk_approximate(struct approximate_args a) {
    simt_arena arena = simt_shared_arena();
    approximate_shared<Element, WARPS> s = carve_approximate<Element, WARPS>(arena, a.of_row);
    const uint32_t teams = simt_warps() / WARPS, team = simt_warp() / WARPS;
    const warp_lists<Element> lists = lists_of(s.lists, a.of_row, team);
    if (is_called_off(a.of_row.rows))
        return;
    const int64_t first = (int64_t)simt_block() * teams + team, rows = a.of_row.rows.rows;
    const bool are_even = are_rows_even(a.of_row.rows);
    for (int64_t row = first; row < rows; row += (int64_t)simt_blocks() * teams) {
        if (row != first)
            TOPK_REACHED(REACHED_RTOPK_APPROXIMATE_NEXT_ROW);
        const struct row r = are_even ? even_row_at(a.of_row.rows, row) : row_at(a.of_row.rows, row);
        approximate_row<Element, ITEMS>(a, row, r, lists, s.team);
    }
}

#endif
