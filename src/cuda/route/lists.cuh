/* SPDX-License-Identifier: Apache-2.0
 * Lists in shared memory. */
#ifndef TOPK_SRC_CUDA_ROUTE_LISTS_CUH
#define TOPK_SRC_CUDA_ROUTE_LISTS_CUH

#include "../rows.cuh"
#include "kernels.h"

/* The two best scores of some experts. */
struct alignas(8) best_two {
    float first, second;
};

struct route_lists {
    simt_shared<float> biases;     /* of a block: list_biases() */
    simt_shared<simt_u32x4> copy;  /* of a row, where rows are loaded ahead */
    simt_shared<float> scores;     /* of a row's candidates: near ones are not among them */
    simt_shared<uint16_t> experts; /* of a row: its candidates, then its results, best first */
    simt_shared<best_two> pieces;  /* of a row: groups.cuh */
    simt_shared<uint32_t> keys;    /* of all experts and groups of a row, for each warp: exact.cuh */
};

/* Nearly all rows have at most half as many candidates as there is room for. The rows of a warp read scores
 * side by side, so their lists begin in different banks. */
template <uint32_t LANES> struct candidate_room {
    static const uint32_t SLOTS = 2 * LANES < ROUTE_CANDIDATES ? ROUTE_CANDIDATES / LANES : 2; /* of a lane */
    static const uint32_t ROOM = LANES * SLOTS, PITCH = ROOM + 4;
};

/* The group of a piece: a division of numbers up to 1024, whose reciprocal is rounded up. */
TOPK_HOST_DEVICE uint32_t group_of(const struct route_args &a, uint32_t piece) {
    return piece * a.piece_reciprocal >> ROUTE_RECIPROCAL_BITS;
}

/* Up to `pieces` of a row, and one more for each group, so that lanes read the pieces of different groups in
 * different banks. */
TOPK_HOST_DEVICE uint32_t row_pieces(const struct route_args &a, uint32_t pieces) {
    return a.pieces_of_group == 0 ? 0 : pieces + group_of(a, pieces);
}

TOPK_HOST_DEVICE uint32_t row_keys(const struct route_args &a) {
    return (uint32_t)a.rows.length_max + a.groups;
}

/* The lists of a block. Lists of constant sizes come first, so that their addresses cost little. */
template <typename Shape>
TOPK_HOST_DEVICE route_lists carve_lists(simt_arena &arena, const struct route_args &a) {
    const uint32_t rows = ROUTE_THREADS / Shape::LANES, warps = ROUTE_THREADS / SIMT_WARP;
    route_lists lists;
    lists.biases = simt_carve<float>(arena, Shape::EXPERTS);
    lists.scores = simt_carve<float>(arena, rows * candidate_room<Shape::LANES>::PITCH);
    lists.experts = simt_carve<uint16_t>(arena, rows * candidate_room<Shape::LANES>::ROOM);
    lists.copy = simt_carve<simt_u32x4>(arena, rows * Shape::COPY);
    lists.pieces = simt_carve<best_two>(arena, rows * row_pieces(a, Shape::EXPERTS / Shape::PER));
    lists.keys = simt_carve<uint32_t>(arena, warps * row_keys(a));
    return lists;
}

/* The lists of row `row` of the block. */
template <typename Shape> TOPK_DEVICE route_lists lists_of_row(const struct route_args &a, uint32_t row) {
    const uint32_t room = candidate_room<Shape::LANES>::ROOM, pitch = candidate_room<Shape::LANES>::PITCH;
    const uint32_t pieces = row_pieces(a, Shape::EXPERTS / Shape::PER);
    simt_arena arena = simt_shared_arena();
    const route_lists all = carve_lists<Shape>(arena, a);
    route_lists lists;
    lists.biases = all.biases;
    lists.scores = simt_shared_part(all.scores, row * pitch, pitch);
    lists.experts = simt_shared_part(all.experts, row * room, room);
    lists.copy = simt_shared_part(all.copy, row * Shape::COPY, Shape::COPY);
    lists.pieces = simt_shared_part(all.pieces, row * pieces, pieces);
    lists.keys = simt_shared_part(all.keys, simt_warp() * row_keys(a), row_keys(a));
    return lists;
}

#endif
