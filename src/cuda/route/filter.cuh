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

TOPK_DEVICE float minus_infinity(void) {
    return score_of_bits(0xff800000);
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
    float scores[ITEMS]; /* -infinity where nothing is present */
    uint32_t present;    /* a bit for each item that can be chosen */
    bool is_certain;     /* what is not present cannot be chosen; no score is NaN */
};

template <typename Element, uint32_t LANES, uint32_t ITEMS>
TOPK_DEVICE near_scores<ITEMS> near_scores_of(const logit_row<Element> &row) {
    near_scores<ITEMS> s;
    s.present = hold_logits<Element, LANES>(row, s.scores);
    s.is_certain = true;
    if (row.a.by_sigmoid) {
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            s.scores[i] = sigmoid_near(s.scores[i]);
    }
    if (row.a.bias != nullptr)
        add_bias<Element, LANES>(row, s.scores);
    if (row.experts() < LANES * ITEMS) {
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            s.scores[i] = (s.present >> i & 1) != 0 ? s.scores[i] : minus_infinity();
    }
    return s;
}

/* Sorts a number of each of LANES lanes, best first. Merges run against the mirror image, so all of them have
 * one direction. */
template <uint32_t LANES> TOPK_DEVICE float sort_row(float number) {
    auto compare = [](float mine, uint32_t lanes, uint32_t upper) TOPK_LAMBDA {
        const float other = simt_shuffle_xor(SIMT_ALL_LANES, mine, lanes);
        return (simt_lane() & upper) != 0 ? simt_float_min(mine, other) : simt_float_max(mine, other);
    };
#pragma unroll
    for (uint32_t run = 2; run <= LANES; run *= 2) {
        number = compare(number, run - 1, run / 2);
#pragma unroll
        for (uint32_t lanes = run / 4; lanes != 0; lanes /= 2)
            number = compare(number, lanes, lanes);
    }
    return number;
}

/* Finds the items that may be among the k best: a bit for each. The k-th best of the lanes' best is a lower
 * bound of the k-th. All lanes. */
template <uint32_t LANES, uint32_t ITEMS>
TOPK_DEVICE uint32_t candidates_of(const struct route_args &a, near_scores<ITEMS> *s) {
    float greatest = s->scores[0];
    uint32_t hits = 0;
#pragma unroll
    for (uint32_t i = 1; i < ITEMS; i++)
        greatest = simt_float_max_or_nan(greatest, s->scores[i]);
    s->is_certain &= greatest == greatest;
    const uint32_t kth = simt_lane() / LANES * LANES + (uint32_t)a.rows.k_max - 1;
    float threshold = simt_shuffle(SIMT_ALL_LANES, sort_row<LANES>(greatest), kth);
    if (a.by_sigmoid)
        threshold -= 4 * error_of(threshold);
#pragma unroll
    for (uint32_t i = 0; i < ITEMS; i++)
        hits |= s->scores[i] >= threshold ? 1u << i : 0;
    return hits & s->present;
}

#endif
