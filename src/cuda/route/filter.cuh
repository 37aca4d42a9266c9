/* SPDX-License-Identifier: Apache-2.0
 * Which experts of a row may be among its best: by scores near the exact ones, in registers, with a bound of
 * their error. A sigmoid is near within NEAR_SIGMOID; everything else is exact. */
#ifndef TOPK_SRC_CUDA_ROUTE_FILTER_CUH
#define TOPK_SRC_CUDA_ROUTE_FILTER_CUH

#include "held.cuh"

/* Two steps are within 2^-22 of exact ones; their error, what the exponent's rounding adds, and the exact
 * sequence's own 3 units in the last place are less than 2^-21 together. Adding a bias rounds both sums to
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

/* The scores of a row, and what is known of them. */
template <uint32_t ITEMS> struct near_scores {
    float scores[ITEMS]; /* -infinity behind the last expert */
    float greatest[2];   /* among those of each half of the items that are present */
    uint32_t present;    /* a bit for each item that can be chosen */
    bool is_certain;     /* what is not present cannot be chosen; no score is NaN */
};

template <typename Element, uint32_t LANES, uint32_t ITEMS>
TOPK_DEVICE near_scores<ITEMS> near_scores_of(const logit_row<Element> &row) {
    near_scores<ITEMS> s;
    hold_logits<Element, LANES>(row, s.scores);
    s.present = present_items<Element, LANES, ITEMS>(row.experts());
    s.is_certain = true;
    if (row.a.by_sigmoid) {
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            s.scores[i] = sigmoid_near(s.scores[i]);
        if (row.experts() < LANES * ITEMS) {
#pragma unroll
            for (uint32_t i = 0; i < ITEMS; i++)
                s.scores[i] = (s.present >> i & 1) != 0 ? s.scores[i] : minus_infinity();
        }
    }
    if (row.a.bias != nullptr)
        add_bias<Element, LANES>(row, s.scores);
    return s;
}

/* Compares with the lane whose number differs in `lanes`: of the two, the one without bit `upper` keeps the
 * greater number. */
TOPK_DEVICE float keep_greater(float mine, uint32_t lanes, uint32_t upper) {
    const float other = simt_shuffle_xor(SIMT_ALL_LANES, mine, lanes);
    return (other > mine) != ((simt_lane() & upper) != 0) ? other : mine;
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

template <uint32_t ITEMS>
TOPK_DEVICE float greatest_of(const float (&scores)[ITEMS], uint32_t first, uint32_t end) {
    float greatest = scores[first];
#pragma unroll
    for (uint32_t i = first + 1; i < end; i++)
        greatest = simt_float_max_or_nan(greatest, scores[i]);
    return greatest;
}

/* Finds the maxima of the lane. */
template <uint32_t ITEMS> TOPK_DEVICE void find_greatest(near_scores<ITEMS> *s) {
    s->greatest[0] = greatest_of(s->scores, 0, ITEMS / 2);
    s->greatest[1] = greatest_of(s->scores, ITEMS / 2, ITEMS);
    s->is_certain &= s->greatest[0] == s->greatest[0] && s->greatest[1] == s->greatest[1];
}

/* A lower bound of the k-th best score: the k-th best of the lanes' maxima. There are 2 for each lane where k
 * may be as large as the number of lanes, else 1: about 1.4 k experts are at or above their k-th. All lanes.
 */
template <uint32_t LANES>
TOPK_DEVICE float lower_bound_of(const struct route_args &a, const float (&greatest)[2]) {
    const uint32_t kth = simt_lane() / LANES * LANES + (uint32_t)a.rows.k_max - 1;
    float sorted;
    if (LANES > ROUTE_FEW_RESULTS && LANES < SIMT_WARP) {
        sorted = sort_row<LANES>(simt_float_max(greatest[0], greatest[1]));
    } else {
        const float one = sort_row<LANES>(greatest[0]), other = sort_row<LANES>(greatest[1]);
        const float mirrored = simt_shuffle_xor(SIMT_ALL_LANES, other, LANES - 1);
        sorted = merge_row<LANES>(simt_float_max(one, mirrored));
    }
    return simt_shuffle(SIMT_ALL_LANES, sorted, kth);
}

/* Finds the items that may be among the k best: a bit for each. All lanes. */
template <uint32_t LANES, uint32_t ITEMS>
TOPK_DEVICE uint32_t candidates_of(const struct route_args &a, const near_scores<ITEMS> &s) {
    float threshold = lower_bound_of<LANES>(a, s.greatest);
    uint32_t below = 0;
    if (a.by_sigmoid)
        threshold -= 4 * error_of(threshold);
    /* The sign of a difference is that of the exact one. Equal numbers, also zeros of two signs, have the sum
     * 0, and infinities that cancel out make a row uncertain or are hits. */
    const float negated = 0.0f - threshold;
#pragma unroll
    for (uint32_t i = ITEMS; i-- > 0;)
        below = below << 1 | score_bits(s.scores[i] + negated) >> 31;
    return ~below & s.present;
}

#endif
