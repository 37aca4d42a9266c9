/* SPDX-License-Identifier: Apache-2.0
 * The best groups of experts, by pieces: what a lane holds side by side. A group has pieces_of_group of
 * them, and a lane of its own, which adds up its best two scores. */
#ifndef TOPK_SRC_CUDA_ROUTE_GROUPS_CUH
#define TOPK_SRC_CUDA_ROUTE_GROUPS_CUH

#include "filter.cuh"

/* NaN stays in `first`. */
TOPK_DEVICE best_two merge_two(const best_two &a, const best_two &b) {
    return best_two{simt_float_max_or_nan(a.first, b.first),
                    simt_float_max(simt_float_min(a.first, b.first), simt_float_max(a.second, b.second))};
}

/* The best two of some scores. */
template <uint32_t COUNT> TOPK_DEVICE best_two best_two_of(const float *scores) {
    best_two best = {scores[0], minus_infinity()};
    if constexpr (COUNT > 1)
        best = best_two{simt_float_max_or_nan(scores[0], scores[1]), simt_float_min(scores[0], scores[1])};
#pragma unroll
    for (uint32_t i = 2; i < COUNT; i++) {
        best.second = simt_float_max(best.second, simt_float_min(best.first, scores[i]));
        best.first = simt_float_max_or_nan(best.first, scores[i]);
    }
    return best;
}

/* How many of the row's lanes have a greater sum. All lanes. */
template <uint32_t LANES> TOPK_DEVICE uint32_t rank_of_sum(float sum) {
    uint32_t rank = 0;
#pragma unroll
    for (uint32_t lanes = 1; lanes < LANES; lanes++)
        rank += score_bits(score_subtract(sum, simt_shuffle_xor(SIMT_ALL_LANES, sum, lanes))) >> 31;
    return rank;
}

/* How many lower lanes of the row have the same sum. All lanes. */
template <uint32_t LANES> TOPK_DEVICE uint32_t equal_sums_before(float sum) {
    uint32_t before = 0;
#pragma unroll 1
    for (uint32_t lanes = 1; lanes < LANES; lanes++) {
        const bool is_equal = simt_shuffle_xor(SIMT_ALL_LANES, sum, lanes) == sum;
        before += is_equal && (simt_lane() ^ lanes) < simt_lane() ? 1 : 0;
    }
    return before;
}

/* The lanes of the row that have a group of the best, a bit for each. All lanes. */
template <uint32_t LANES>
TOPK_DEVICE uint32_t kept_of_row(const struct route_args &a, bool is_group, uint32_t rank) {
    const uint32_t kept = simt_ballot(SIMT_ALL_LANES, is_group && rank < a.groups_kept);
    return kept >> simt_lane() / LANES * LANES & ~0u >> (SIMT_WARP - LANES);
}

/* Of scores that are near: whether the worst group that is kept is above the best one that is not, whatever
 * the exact scores are. All lanes. */
template <uint32_t LANES>
TOPK_DEVICE bool is_choice_certain(float sum, float error, bool is_group, bool is_kept) {
    const float infinity = -minus_infinity();
    const float low = is_kept ? sum - error : infinity, high = is_group && !is_kept ? sum + error : -infinity;
    auto least = [](float a, float b) TOPK_LAMBDA { return simt_float_min(a, b); };
    auto greatest = [](float a, float b) TOPK_LAMBDA { return simt_float_max(a, b); };
    return combine_row<LANES>(low, least) > combine_row<LANES>(high, greatest);
}

/* Finds the best groups of the row, each of whose best two a lane has: a bit for each. What equal groups
 * leave open is not certain, unless scores are exact and EQUALS are frequent. All lanes. */
template <uint32_t LANES, bool EQUALS>
TOPK_DEVICE uint32_t choose_groups(const struct route_args &a, const best_two &best, bool *is_certain) {
    const bool is_group = simt_lane() % LANES < a.groups;
    float sum = a.group_size == 1 ? best.first : score_add(best.first, best.second);
    *is_certain &= !is_group || sum == sum;
    sum = is_group ? score_add(sum, 0.0f) : minus_infinity(); /* no zero is negative */
    uint32_t rank = rank_of_sum<LANES>(sum), kept = kept_of_row<LANES>(a, is_group, rank);
    if (EQUALS && !a.by_sigmoid && simt_any(SIMT_ALL_LANES, simt_popc(kept) != a.groups_kept)) {
        TOPK_REACHED(REACHED_ROUTE_EQUAL_GROUPS);
        rank += equal_sums_before<LANES>(sum);
        kept = kept_of_row<LANES>(a, is_group, rank);
    }
    bool is_clear = simt_popc(kept) == a.groups_kept;
    if (a.by_sigmoid) {
        const bool is_kept = is_group && rank < a.groups_kept;
        const float error = error_of(best.first) + (a.group_size == 1 ? 0 : error_of(best.second));
        is_clear &= is_choice_certain<LANES>(sum, 2 * error, is_group, is_kept);
    }
    if (!is_clear)
        TOPK_REACHED(REACHED_ROUTE_UNCERTAIN);
    *is_certain &= is_clear;
    return kept;
}

/* Finds the lane's items that are in the best groups, a bit for each, and the greatest two of them. All
 * lanes. */
template <typename Shape>
TOPK_DEVICE uint32_t keep_groups(const struct route_args &a, const float (&scores)[Shape::ITEMS],
                                 simt_shared<best_two> pieces, best_two *greatest, bool *is_certain) {
    const uint32_t lane = Shape::lane(), per_group = a.pieces_of_group, ones = ~0u >> (32 - Shape::PER);
    const best_two none = {minus_infinity(), minus_infinity()};
    best_two best = none;
    uint32_t items = 0;
    TOPK_REACHED(REACHED_ROUTE_GROUPS);
#pragma unroll
    for (uint32_t g = 0; g < Shape::PIECES; g++) {
        const uint32_t piece = g * Shape::LANES + lane;
        pieces[piece + group_of(a, piece)] = best_two_of<Shape::PER>(scores + g * Shape::PER);
    }
    simt_warp_sync(SIMT_ALL_LANES);
    for (uint32_t i = 0; i < per_group && lane < a.groups; i++)
        best = merge_two(best, pieces[lane * (per_group + 1) + i]);
    const uint32_t kept =
        choose_groups<Shape::LANES, sizeof(typename Shape::Element) <= 2>(a, best, is_certain);
    *greatest = none;
#pragma unroll
    for (uint32_t g = 0; g < Shape::PIECES; g++) {
        const uint32_t piece = g * Shape::LANES + lane, group = group_of(a, piece);
        const bool is_kept = (kept >> group % SIMT_WARP & 1) != 0; /* or there are no experts */
        const best_two mine = pieces[piece + group];
        *greatest = merge_two(
            *greatest, best_two{is_kept ? mine.first : none.first, is_kept ? mine.second : none.second});
        items |= is_kept ? ones << g * Shape::PER : 0;
    }
    return items;
}

#endif
