/* SPDX-License-Identifier: Apache-2.0
 * A row's lists in shared memory. */
#ifndef TOPK_SRC_CUDA_ROUTE_LISTS_CUH
#define TOPK_SRC_CUDA_ROUTE_LISTS_CUH

#include "filter.cuh"

struct row_lists {
    simt_shared<float> scores;        /* of candidates: near ones are not among them */
    simt_shared<uint16_t> candidates; /* item * LANES + lane, then experts */
    simt_shared<uint32_t> experts;    /* the results, best first */
    simt_shared<float> logits;        /* theirs, if there are weights */
    simt_shared<uint32_t> keys; /* of all experts, and behind them of all groups; once a way out is taken */
};

/* Of a row. The rows of a warp read scores side by side, so their lists begin in different banks. */
template <uint32_t LANES> struct candidate_list {
    static const uint32_t ROOM = LANES * ROUTE_CANDIDATES, PITCH = ROOM + ROUTE_RANKED_AT_ONCE;
};

/* Those of a block's rows, one behind the other. */
template <uint32_t LANES>
TOPK_HOST_DEVICE row_lists carve_lists(simt_arena &arena, const struct route_args &a) {
    const uint32_t rows = ROUTE_THREADS / LANES;
    row_lists lists;
    lists.scores = simt_carve<float>(arena, rows * candidate_list<LANES>::PITCH);
    lists.candidates = simt_carve<uint16_t>(arena, rows * candidate_list<LANES>::ROOM);
    lists.experts = simt_carve<uint32_t>(arena, rows * LANES);
    lists.logits = simt_carve<float>(arena, rows * LANES);
    lists.keys = simt_carve<uint32_t>(arena, rows * ((uint32_t)a.rows.length_max + a.groups));
    return lists;
}

/* Those of row `row`. */
template <uint32_t LANES>
TOPK_DEVICE row_lists lists_of_row(const row_lists &all, const struct route_args &a, uint32_t row) {
    const uint32_t room = candidate_list<LANES>::ROOM, pitch = candidate_list<LANES>::PITCH;
    const uint32_t keys = (uint32_t)a.rows.length_max + a.groups;
    row_lists lists;
    lists.scores = simt_shared_part(all.scores, row * pitch, pitch);
    lists.candidates = simt_shared_part(all.candidates, row * room, room);
    lists.experts = simt_shared_part(all.experts, row * LANES, LANES);
    lists.logits = simt_shared_part(all.logits, row * LANES, LANES);
    lists.keys = simt_shared_part(all.keys, row * keys, keys);
    return lists;
}

#endif
