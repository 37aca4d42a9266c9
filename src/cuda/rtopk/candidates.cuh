/* SPDX-License-Identifier: Apache-2.0
 * The kernel for rows of one length whose results are looked for among few candidates. */
#ifndef TOPK_SRC_CUDA_RTOPK_CANDIDATES_CUH
#define TOPK_SRC_CUDA_RTOPK_CANDIDATES_CUH

#include "network.cuh"
#include "part_candidates.cuh"

/* The lists of a warp: for all of its rows positions of results, and of candidates, HEADS for each lane. */
struct candidate_lists {
    simt_shared<uint16_t> positions, candidates;
};

template <uint32_t HEADS>
TOPK_HOST_DEVICE candidate_lists carve_candidates(simt_arena &arena, const struct rtopk_args &a,
                                                  uint32_t warp) {
    const uint32_t slots = HEADS * SIMT_WARP, warps = RTOPK_THREADS / SIMT_WARP;
    candidate_lists lists;
    lists.positions = simt_shared_part(simt_carve<uint16_t>(arena, warps * a.slots), warp * a.slots, a.slots);
    lists.candidates = simt_shared_part(simt_carve<uint16_t>(arena, warps * slots), warp * slots, slots);
    return lists;
}

/* Lists the results of rows that their candidates do not tell; `kth`: the k-th lead, or a lesser one. Reads
 * the rows again, so that no lane keeps them until then. All lanes. */
template <bool BY_POSITION, typename Element, uint32_t ITEMS>
TOPK_DEVICE void list_open_rows(const struct rtopk_args &a, const served_rows &s, bool is_open, uint32_t kth,
                                const simt_shared<uint16_t> &positions) {
    const uint32_t r = simt_lane() >> a.uniform.part_shift;
    const part_row<Element, ITEMS> row =
        load_part_row<Element, ITEMS, BY_POSITION>(a, s.first + (r < s.count ? r : 0));
    lane_results<ITEMS> results = results_of(row, a.uniform, kth);
    TOPK_REACHED(REACHED_RTOPK_CANDIDATES_OPEN);
    if (!simt_all(SIMT_ALL_LANES, !is_open || results.found)) {
        TOPK_REACHED(REACHED_RTOPK_NETWORK_COUNTED);
        results = results_by_counts(row, a.uniform);
    }
    list_row<BY_POSITION>(a, s, row, results, is_open, positions);
}

/* BY_POSITION: as in rtopk_network(). */
template <typename Element, uint32_t ITEMS, uint32_t HEADS, bool BY_POSITION>
TOPK_KERNEL
TOPK_BOUNDS(RTOPK_THREADS,
            RTOPK_CANDIDATE_BLOCKS(ITEMS)) void rtopk_candidates(TOPK_CONSTANT_ARGS struct rtopk_args a) {
    if (is_called_off(a.rows))
        return;
    const struct uniform_rows &u = a.uniform;
    const served_rows s = rows_of_warp(a, (uint32_t)SIMT_WARP >> u.part_shift);
    if (s.count == 0)
        return;
    simt_arena arena = simt_shared_arena();
    const candidate_lists lists = carve_candidates<HEADS>(arena, a, simt_warp());
    const uint32_t r = simt_lane() >> u.part_shift, slots = HEADS << u.part_shift;
    const bool has_row = r < s.count;
    const int64_t index = s.first + (has_row ? r : 0);
    const lane_part part = part_of_lane(u.part_shift);
    const part_row<Element, ITEMS> row = load_part_row<Element, ITEMS, BY_POSITION>(a, index);
    read_ahead<Element>(a, s);
    uint32_t kth = bound_of_kth<HEADS>(row, u);
    const simt_shared<uint16_t> list = simt_shared_part(lists.positions, has_row ? r * u.k : 0, u.k);
    bool found;
    const candidate_list candidates = list_candidates<HEADS, BY_POSITION>(
        row, u, kth, has_row, simt_shared_part(lists.candidates, r * slots, slots), list, &found);
    if (!simt_all(SIMT_ALL_LANES, found))
        found |= list_best_candidates<HEADS, BY_POSITION>(uniform_row<Element>(a, index), candidates, part, u,
                                                          has_row && !found, list, &kth);
    if (!simt_all(SIMT_ALL_LANES, found))
        list_open_rows<BY_POSITION, Element, ITEMS>(a, s, has_row && !found, kth, lists.positions);
    write_positions<BY_POSITION ? 0 : RTOPK_ORDER_FEW, Element>(a, s, lists.positions,
                                                                rows_from<Element>(a, s));
    if (u.has_padding)
        write_rests<Element>(a, s);
}

#endif
