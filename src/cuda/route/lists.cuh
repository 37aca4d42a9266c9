/* SPDX-License-Identifier: Apache-2.0
 * A row's lists in shared memory. */
#ifndef TOPK_SRC_CUDA_ROUTE_LISTS_CUH
#define TOPK_SRC_CUDA_ROUTE_LISTS_CUH

#include "filter.cuh"

struct row_lists {
    simt_shared<uint64_t> entries; /* of candidates */
    simt_shared<uint16_t> items;   /* theirs: item * LANES + lane */
    simt_shared<uint32_t> experts; /* the results, best first */
    simt_shared<float> logits;     /* theirs */
    simt_shared<uint32_t> keys; /* of all experts, and behind them of all groups; once a way out is taken */
};

enum { ROUTE_RESULTS_MAX = 32 };

/* Of a row. Lists of entries are read side by side by the rows of a warp, so they begin in different banks.
 */
template <uint32_t LANES> struct candidate_list {
    static const uint32_t ROOM = LANES * ROUTE_CANDIDATES, PITCH = ROOM + (LANES < SIMT_WARP ? 1 : 0);
};

/* Those of so many rows, one behind the other. */
template <uint32_t LANES>
TOPK_HOST_DEVICE row_lists carve_lists(simt_arena &arena, const struct route_args &a, uint32_t rows) {
    row_lists lists;
    lists.entries = simt_carve<uint64_t>(arena, rows * candidate_list<LANES>::PITCH);
    lists.items = simt_carve<uint16_t>(arena, rows * candidate_list<LANES>::ROOM);
    lists.experts = simt_carve<uint32_t>(arena, rows * ROUTE_RESULTS_MAX);
    lists.logits = simt_carve<float>(arena, rows * ROUTE_RESULTS_MAX);
    lists.keys = simt_carve<uint32_t>(arena, rows * ((uint32_t)a.rows.length_max + a.groups));
    return lists;
}

/* Those of row `row`. */
template <uint32_t LANES>
TOPK_DEVICE row_lists lists_of_row(const row_lists &all, const struct route_args &a, uint32_t row) {
    const uint32_t room = candidate_list<LANES>::ROOM, keys = (uint32_t)a.rows.length_max + a.groups;
    row_lists lists;
    lists.entries = simt_shared_part(all.entries, row * candidate_list<LANES>::PITCH, room);
    lists.items = simt_shared_part(all.items, row * room, room);
    lists.experts = simt_shared_part(all.experts, row * ROUTE_RESULTS_MAX, ROUTE_RESULTS_MAX);
    lists.logits = simt_shared_part(all.logits, row * ROUTE_RESULTS_MAX, ROUTE_RESULTS_MAX);
    lists.keys = simt_shared_part(all.keys, row * keys, keys);
    return lists;
}

/* Greater for the better expert, and for the first of equals; never 0. */
TOPK_DEVICE uint64_t entry_of(uint32_t key, uint32_t expert) {
    return (uint64_t)key << 32 | ~expert;
}

#endif
