/* SPDX-License-Identifier: Apache-2.0
 * The best groups of experts, in registers.
 *
 * Each group of experts lies in group_lanes neighbouring lanes, PER experts side by side in each of them, at
 * one of GROUPS places among their items: a lane has items of GROUPS groups. Halving the lanes' share step by
 * step leaves each lane with one group. */
#ifndef TOPK_SRC_CUDA_ROUTE_GROUPS_CUH
#define TOPK_SRC_CUDA_ROUTE_GROUPS_CUH

#include "filter.cuh"

struct best_two {
    float first, second;
};

/* NaN stays in `first`. */
TOPK_DEVICE best_two merge_two(const best_two &a, const best_two &b) {
    return best_two{simt_float_max_or_nan(a.first, b.first),
                    simt_float_max(simt_float_min(a.first, b.first), simt_float_max(a.second, b.second))};
}

/* By value, so that arrays of these stay in registers. */
TOPK_DEVICE best_two either_two(bool is_first, best_two a, best_two b) {
    return best_two{is_first ? a.first : b.first, is_first ? a.second : b.second};
}

TOPK_DEVICE best_two exchange_two(const best_two &mine, uint32_t lanes) {
    return best_two{simt_shuffle_xor(SIMT_ALL_LANES, mine.first, lanes),
                    simt_shuffle_xor(SIMT_ALL_LANES, mine.second, lanes)};
}

/* The best two of items first .. end - 1. */
template <uint32_t ITEMS>
TOPK_DEVICE best_two best_two_of(const float (&scores)[ITEMS], uint32_t first, uint32_t end) {
    best_two best = {scores[first], minus_infinity()};
#pragma unroll
    for (uint32_t i = first + 1; i < end; i++) {
        best.second = simt_float_max(best.second, simt_float_min(best.first, scores[i]));
        best.first = simt_float_max_or_nan(best.first, scores[i]);
    }
    return best;
}

/* The group that a lane is left with. Where group_lanes exceed GROUPS, several lanes have the same. */
template <typename Element, uint32_t LANES, uint32_t ITEMS> struct group_share {
    typedef logit_shape<Element, LANES, ITEMS> shape;
    static const uint32_t GROUPS = shape::GROUPS;
    const struct route_args &a;

    /* Lanes that are left with the same group. */
    TOPK_MEMBER uint32_t copies(void) const {
        return a.group_lanes / GROUPS;
    }
    TOPK_MEMBER uint32_t group(void) const {
        const uint32_t in_group = shape::lane() & (a.group_lanes - 1);
        return (in_group * GROUPS >> a.group_shift) * (LANES >> a.group_shift) +
               (shape::lane() >> a.group_shift);
    }
    TOPK_MEMBER bool is_first_copy(void) const {
        return (shape::lane() & (copies() - 1)) == 0 && group() < a.groups;
    }
    /* The lane of the warp that is left with the group of the caller's first items; with those of its further
     * items, so many copies behind it. */
    TOPK_MEMBER uint32_t first_lane(void) const {
        return simt_lane() & ~(a.group_lanes - 1);
    }
};

/* best[g] are the lane's best two of its items g. Returns those of the group that the lane is left with. All
 * lanes. */
template <uint32_t GROUPS>
TOPK_DEVICE best_two share_groups(const struct route_args &a, best_two (&best)[GROUPS]) {
    uint32_t lanes = a.group_lanes / 2;
#pragma unroll
    for (uint32_t half = GROUPS / 2; half != 0; half /= 2, lanes /= 2) {
        const bool is_upper = (simt_lane() & lanes) != 0;
#pragma unroll
        for (uint32_t g = 0; g < half; g++) {
            const best_two given = either_two(is_upper, best[g], best[g + half]);
            const best_two stays = either_two(is_upper, best[g + half], best[g]);
            best[g] = merge_two(stays, exchange_two(given, lanes));
        }
    }
    for (; lanes != 0; lanes /= 2)
        best[0] = merge_two(best[0], exchange_two(best[0], lanes));
    return best[0];
}

/* How many of the row's lanes have a greater sum. All lanes. */
template <uint32_t LANES> TOPK_DEVICE uint32_t rank_of_sum(float sum) {
    uint32_t rank = 0;
#pragma unroll
    for (uint32_t lanes = 1; lanes < LANES; lanes++)
        rank += score_bits(sum - simt_shuffle_xor(SIMT_ALL_LANES, sum, lanes)) >> 31;
    return rank;
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

/* Finds the best groups: a bit for each lane of the warp that is left with one of them. What equal groups
 * leave open is not certain. All lanes. */
template <typename Element, uint32_t LANES, uint32_t ITEMS>
TOPK_DEVICE uint32_t choose_groups(const group_share<Element, LANES, ITEMS> &share, const best_two &best,
                                   bool *is_certain) {
    const struct route_args &a = share.a;
    const bool is_group = share.is_first_copy();
    float sum = a.group_size == 1 ? best.first : score_add(best.first, best.second);
    *is_certain &= !is_group || sum == sum;
    sum = is_group ? score_add(sum, 0.0f) : minus_infinity(); /* no zero is negative */
    const uint32_t rank = rank_of_sum<LANES>(sum);
    const bool is_kept = is_group && rank < a.groups_kept;
    const uint32_t kept = simt_ballot(SIMT_ALL_LANES, is_kept);
    const uint32_t of_row = kept >> simt_lane() / LANES * LANES & ~0u >> (SIMT_WARP - LANES);
    bool is_clear = simt_popc(of_row) == a.groups_kept;
    if (a.by_sigmoid) {
        const float error = error_of(best.first) + (a.group_size == 1 ? 0 : error_of(best.second));
        is_clear &= is_choice_certain<LANES>(sum, 2 * error, is_group, is_kept);
    }
    if (!is_clear)
        TOPK_REACHED(REACHED_ROUTE_UNCERTAIN);
    *is_certain &= is_clear;
    return kept;
}

/* Leaves the experts of the best groups alone present, and finds the maxima of the lane. All lanes. */
template <typename Element, uint32_t LANES, uint32_t ITEMS>
TOPK_DEVICE void keep_groups(const struct route_args &a, near_scores<ITEMS> *s) {
    typedef logit_shape<Element, LANES, ITEMS> shape;
    const group_share<Element, LANES, ITEMS> share = {a};
    const uint32_t ones = ~0u >> (32 - shape::PER);
    best_two best[shape::GROUPS];
    float greatest[shape::GROUPS];
    TOPK_REACHED(REACHED_ROUTE_GROUPS);
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++) {
        best[g] = best_two_of(s->scores, g * shape::PER, (g + 1) * shape::PER);
        greatest[g] = best[g].first;
    }
    const best_two left = share_groups(a, best);
    uint32_t kept = choose_groups(share, left, &s->is_certain) >> share.first_lane();
    s->greatest[0] = s->greatest[1] = minus_infinity();
#pragma unroll
    for (uint32_t g = 0; g < shape::GROUPS; g++, kept >>= share.copies()) {
        const uint32_t part = 2 * g / shape::GROUPS;
        const bool is_kept = (kept & 1) != 0;
        s->greatest[part] = simt_float_max(s->greatest[part], is_kept ? greatest[g] : minus_infinity());
        s->present &= is_kept ? ~0u : ~(ones << g * shape::PER);
    }
}

#endif
