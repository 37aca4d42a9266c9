/* SPDX-License-Identifier: Apache-2.0
 * The results of a row among a few candidates. The greatest lead of each of many strands of the row tells a
 * bound: where k of these reach it, so do k elements. What reaches it, a candidate, is listed, and a network
 * finds the k-th lead of the candidates alone. */
#ifndef TOPK_SRC_CUDA_RTOPK_PART_CANDIDATES_CUH
#define TOPK_SRC_CUDA_RTOPK_PART_CANDIDATES_CUH

#include "part_in_order.cuh"
#include "part_list.cuh"
#include "part_results.cuh"

/* A lead that k elements of the row reach. A lane has HEADS strands, each every HEADS-th of its items, so
 * that neighbours lie in different ones. All lanes. */
template <uint32_t HEADS, typename Element, uint32_t ITEMS>
TOPK_DEVICE uint32_t bound_of_kth(const part_row<Element, ITEMS> &row, const struct uniform_rows &u) {
    uint32_t heads[HEADS];
#pragma unroll
    for (uint32_t h = 0; h < HEADS; h++) {
        heads[h] = row.leads[h];
#pragma unroll
        for (uint32_t i = h + HEADS; i < ITEMS; i += HEADS)
            heads[h] = row.leads[i] > heads[h] ? row.leads[i] : heads[h];
    }
    sort_words(heads);
    return kth_of_lists(heads, row.part, u);
}

/* The positions of a row's candidates. */
struct candidate_list {
    simt_shared<uint16_t> positions;
    uint32_t count; /* 0 if they are too many */
};

/* Lists what reaches a bound, up to HEADS elements for each lane. Where these are too many, most are ties as
 * a rule: then their results go to `results`, and *found says so. BY_POSITION: lists are in order. All
 * lanes. */
template <uint32_t HEADS, bool BY_POSITION, typename Element, uint32_t ITEMS>
TOPK_DEVICE candidate_list list_candidates(const part_row<Element, ITEMS> &row, const struct uniform_rows &u,
                                           uint32_t bound, bool is_wanted, simt_shared<uint16_t> candidates,
                                           simt_shared<uint16_t> results, bool *found) {
    const item_set<ITEMS> items = items_from(row, u, class_begin<Element>(bound, u.map));
    uint32_t total, end = items.count();
    end += part_scan(row.part, end, &total);
    const bool has_room = total <= HEADS << row.part.shift;
    *found = false;
    if (BY_POSITION)
        list_in_order(row, items, has_room, candidates);
    else if (has_room)
        list_results(row, items, candidates, end);
    if (!simt_all(SIMT_ALL_LANES, has_room)) {
        const lane_results<ITEMS> ties = resolve_ties(row, u, bound, {items, end, total == u.k});
        TOPK_REACHED(REACHED_RTOPK_CANDIDATES_TIED);
        *found = !has_room && ties.found;
        if (BY_POSITION)
            list_in_order(row, ties.items, *found && is_wanted, results);
        else if (*found && is_wanted)
            list_results(row, ties.items, results, ties.end);
    }
    simt_warp_sync(SIMT_ALL_LANES);
    return candidate_list{candidates, has_room ? total : 0};
}

/* Lists the positions of a row's results, if they are found among its candidates; `values`: the row. Returns
 * whether they are. *kth: the k-th lead, if there are candidates. BY_POSITION: candidates are in order,
 * within lanes and from lane to lane. All lanes. */
template <uint32_t HEADS, bool BY_POSITION, typename Element>
TOPK_DEVICE bool list_best_candidates(const Element *values, const candidate_list &candidates,
                                      const lane_part &part, const struct uniform_rows &u, bool is_wanted,
                                      simt_shared<uint16_t> list, uint32_t *kth) {
    uint32_t positions[HEADS], leads[HEADS], sorted[HEADS], results = 0, total;
#pragma unroll
    for (uint32_t i = 0; i < HEADS; i++) {
        const uint32_t slot = BY_POSITION ? part.lane * HEADS + i : part.lane + (i << part.shift);
        const bool exists = slot < candidates.count;
        positions[i] = exists ? (uint32_t)candidates.positions[slot] : 0;
        leads[i] =
            exists ? numbered_lead<Element>(simt_load_read_only(values + positions[i]), positions[i], u) : 0;
        sorted[i] = leads[i];
    }
    sort_words(sorted);
    const uint32_t best = kth_of_lists(sorted, part, u), low = class_begin<Element>(best, u.map);
#pragma unroll
    for (uint32_t i = 0; i < HEADS; i++)
        results = simt_count_from(results, leads[i], low, 1u << i);
    uint32_t end = simt_popc(results);
    end += part_scan(part, end, &total);
    const bool found = low != 0 && total == u.k; /* slots without a candidate have lead 0 */
    simt_appender to = simt_append_at(list, found && is_wanted ? end : 0);
    results = found && is_wanted ? results : 0;
#pragma unroll
    for (uint32_t i = 0; i < HEADS; i++) {
        const uint32_t at = BY_POSITION ? HEADS - 1 - i : i;
        to.prepend_if(results & 1u << at, (uint16_t)positions[at]);
    }
    *kth = candidates.count != 0 ? best : *kth;
    return found;
}

#endif
