/* SPDX-License-Identifier: Apache-2.0
 * A row's results, from its lists to the outputs: one for each lane. */
#ifndef TOPK_SRC_CUDA_ROUTE_RESULTS_CUH
#define TOPK_SRC_CUDA_ROUTE_RESULTS_CUH

#include "lists.cuh"

/* The weight of a lane's result, if it has one: CONTRACT.md, 11.5. All lanes. */
template <uint32_t LANES>
TOPK_DEVICE float weight_of(const struct route_args &a, float logit, bool is_result) {
    auto greater = [](float x, float y) TOPK_LAMBDA { return simt_float_max_or_nan(x, y); };
    auto sum_of = [](float x, float y) TOPK_LAMBDA { return score_add(x, y); };
    float term = 0;
    if (a.weigh_sigmoid) {
        term = score_sigmoid(logit);
    } else {
        const float greatest = combine_row<LANES>(is_result ? logit : minus_infinity(), greater);
        term = score_exp(score_subtract(greatest, logit));
    }
    term = is_result ? term : 0;
    const float sum = combine_row<LANES>(term, sum_of);
    return is_result && sum != 0 ? score_multiply(score_divide(term, sum), a.factor) : 0;
}

/* Writes the results and padding of a row. All lanes. */
template <uint32_t LANES>
TOPK_DEVICE void write_results(const struct route_args &a, int64_t row, bool exists, const row_lists &lists) {
    const uint32_t slot = simt_lane() % LANES;
    const bool is_result = slot < a.wanted;
    simt_warp_sync(SIMT_ALL_LANES);
    const uint32_t expert = is_result ? (uint32_t)lists.experts[slot] : 0;
    float weight = 0;
    if (a.weights != nullptr)
        weight = weight_of<LANES>(a, is_result ? (float)lists.logits[slot] : 0, is_result);
    const int64_t at = row * a.rows.k_max + slot, index = is_result ? expert + a.rows.index_base : -1;
    if (!exists || slot >= (uint32_t)a.rows.k_max)
        return;
    if (a.weights != nullptr)
        a.weights[at] = weight;
    if (a.rows.out_indices != nullptr && a.rows.wide_indices)
        ((int64_t *)a.rows.out_indices)[at] = index;
    if (a.rows.out_indices != nullptr && !a.rows.wide_indices)
        ((int32_t *)a.rows.out_indices)[at] = (int32_t)index;
}

#endif
