/* SPDX-License-Identifier: Apache-2.0
 * Which experts of a row may be among its best: by scores near the exact ones, in registers, with a bound of
 * their error. A sigmoid is near within NEAR_SIGMOID; everything else is exact. */
#ifndef TOPK_SRC_CUDA_ROUTE_FILTER_CUH
#define TOPK_SRC_CUDA_ROUTE_FILTER_CUH

#include "held.cuh"

/* Two steps are within 2^-22 of exact ones; their error, what the exponent's rounding adds, and the exact
 * sequence's own 3.2 units in the last place are less than 2^-21 together. Adding a bias rounds both sums to
 * within 2^-24 of themselves. Each bound is taken twice as large. */
static constexpr float NEAR_SIGMOID = 0x1p-20f, NEAR_SUM = 0x1p-22f;

/* How far a score near the exact one may be from it. */
TOPK_DEVICE float error_of(float score) {
    return NEAR_SIGMOID + NEAR_SUM * (score < 0 ? -score : score);
}

TOPK_DEVICE float sigmoid_near(float x) {
    return simt_float_reciprocal_near(1.0f + simt_float_exp2_near(x * -0x1.715476p+0f));
}

/* Of LANES neighbouring lanes; all get it. All lanes. */
template <uint32_t LANES, typename T, typename Combine> TOPK_DEVICE T combine_row(T value, Combine combine) {
#pragma unroll
    for (uint32_t lanes = 1; lanes < LANES; lanes *= 2)
        value = combine(value, simt_shuffle_xor(SIMT_ALL_LANES, value, lanes));
    return value;
}

/* Makes near scores of a lane's logits; -infinity behind the last expert. The block lists its biases first if
 * it has not: sigmoids pass the time until these have come. The whole block. */
template <typename Shape>
TOPK_DEVICE void score_nearly(const logit_row<Shape> &row, const thread_biases<Shape> &biases,
                              bool are_listed, float (&scores)[Shape::ITEMS]) {
    if (row.by_sigmoid()) {
#pragma unroll
        for (uint32_t i = 0; i < Shape::ITEMS; i++)
            scores[i] = sigmoid_near(scores[i]);
    }
    if (row.has_biases()) {
        if (!are_listed)
            list_biases(biases, row.lists.biases);
#pragma unroll
        for (uint32_t i = 0; i < Shape::ITEMS; i++)
            scores[i] = score_add(scores[i], row.lists.biases[Shape::expert(i)]);
    }
}

/* Compares with the lane whose number differs in `lanes`: of the two, the one without bit `upper` keeps the
 * greater number. */
TOPK_DEVICE float keep_greater(float mine, uint32_t lanes, uint32_t upper) {
    const float other = simt_shuffle_xor(SIMT_ALL_LANES, mine, lanes);
    return (simt_lane() & upper) != 0 ? simt_float_min(mine, other) : simt_float_max(mine, other);
}

/* Sorts a sequence over LANES lanes that ascends and descends once at most. */
template <uint32_t LANES> TOPK_DEVICE float merge_row(float number) {
#pragma unroll
    for (uint32_t lanes = LANES / 2; lanes != 0; lanes /= 2)
        number = keep_greater(number, lanes, lanes);
    return number;
}

/* Sorts a number of each of LANES lanes, best first. Merges run against the mirror image, so all of them have
 * one direction. */
template <uint32_t LANES> TOPK_DEVICE float sort_row(float number) {
#pragma unroll
    for (uint32_t run = 2; run <= LANES; run *= 2) {
        number = keep_greater(number, run - 1, run / 2);
#pragma unroll
        for (uint32_t lanes = run / 4; lanes != 0; lanes /= 2)
            number = keep_greater(number, lanes, lanes);
    }
    return number;
}

/* A lower bound, by less than 32 units in the last place, of the k-th greatest of a number of each of LANES
 * lanes; NaN for -infinity. Each lane counts the greater ones. Rounded down and made different by lanes, one
 * of them has k - 1. Unlike a sort's, these shuffles do not wait for each other. All lanes. */
template <uint32_t LANES> TOPK_DEVICE float kth_of_row(float number, uint32_t k) {
    const uint32_t lane = simt_lane() % LANES, first_lane = simt_lane() - lane, sign = 0x80000000u;
    const uint32_t bits = score_bits(number), ascending = (bits & sign) != 0 ? ~bits : bits | sign;
    const uint32_t mine = (ascending >> 1 & ~(LANES - 1)) | lane;
    uint32_t greater = 0;
#pragma unroll
    for (uint32_t lanes = 1; lanes < LANES; lanes++)
        greater += (mine - simt_shuffle_xor(SIMT_ALL_LANES, mine, lanes)) >> 31;
    const uint32_t kth =
        simt_ballot(SIMT_ALL_LANES, greater == k - 1) >> first_lane & ~0u >> (SIMT_WARP - LANES);
    const uint32_t found =
        simt_shuffle(SIMT_ALL_LANES, mine, first_lane + 31 - simt_clz(kth)) / LANES * LANES * 2;
    return score_of_bits((found & sign) != 0 ? found ^ sign : ~found);
}

/* Two different scores of a lane that bound its best ones from below: the greatest of every other item each.
 * NaN stays. */
template <uint32_t ITEMS> TOPK_DEVICE best_two greatest_of(const float (&scores)[ITEMS]) {
    best_two greatest = {scores[0], scores[1]};
#pragma unroll
    for (uint32_t i = 2; i < ITEMS; i += 2) {
        greatest.first = simt_float_max_or_nan(greatest.first, scores[i]);
        greatest.second = simt_float_max_or_nan(greatest.second, scores[i + 1]);
    }
    return greatest;
}

/* A lower bound of the k-th best score: the k-th best of 2 for each lane where k may be as large as the
 * number of lanes that have scores, else of 1. The groups that are kept may lie in few lanes. About 1.3 k
 * experts are at or above it. All lanes. */
template <uint32_t LANES>
TOPK_DEVICE float lower_bound_of(const struct route_args &a, best_two greatest, bool has_groups) {
    const uint32_t kth = simt_lane() / LANES * LANES + a.wanted - 1;
    if (LANES > ROUTE_FEW_RESULTS && LANES < SIMT_WARP && !has_groups)
        return kth_of_row<LANES>(simt_float_max(greatest.first, greatest.second), a.wanted);
    const float one = sort_row<LANES>(greatest.first), other = sort_row<LANES>(greatest.second);
    const float mirrored = simt_shuffle_xor(SIMT_ALL_LANES, other, LANES - 1);
    return simt_shuffle(SIMT_ALL_LANES, merge_row<LANES>(simt_float_max(one, mirrored)), kth);
}

/* A bit for each item: whether it is at or above the threshold. Rounding keeps the sign of a difference.
 * Equal numbers, also zeros of two signs and equal infinities, have a difference without a sign bit. */
template <uint32_t ITEMS> TOPK_DEVICE uint32_t items_from(const float (&scores)[ITEMS], float threshold) {
    const float negated = 0.0f - threshold;
    uint32_t below = 0;
#pragma unroll
    for (uint32_t i = ITEMS; i-- > 0;)
        below = below << 1 | score_bits(score_add(scores[i], negated)) >> 31;
    return ~below & ~0u >> (32 - ITEMS);
}

#endif
