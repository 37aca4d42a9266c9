/* SPDX-License-Identifier: Apache-2.0
 * A row's results, from its list to the outputs: one for each lane. */
#ifndef TOPK_SRC_CUDA_ROUTE_RESULTS_CUH
#define TOPK_SRC_CUDA_ROUTE_RESULTS_CUH

#include "filter.cuh"

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

/* Writes the results and padding of row `row` of the block, if it exists. All lanes. */
template <typename Shape>
TOPK_DEVICE void write_results(const logit_row<Shape> &logits, const block_rows &rows, uint32_t row) {
    const struct route_args &a = logits.a;
    const uint32_t slot = Shape::lane(), k_max = (uint32_t)a.rows.k_max;
    const bool is_result = slot < a.wanted;
    simt_warp_sync(SIMT_ALL_LANES);
    const uint32_t expert = is_result ? (uint32_t)logits.lists.experts[slot] : 0;
    float weight = 0;
    if (a.weights != nullptr)
        weight = weight_of<Shape::LANES>(a, is_result ? logits.logit(expert) : 0, is_result);
    const int64_t block = rows.first * k_max;
    const uint32_t at = row * k_max + slot;
    if (row >= rows.count || slot >= k_max)
        return;
    if (a.weights != nullptr)
        (a.weights + block)[at] = weight;
    if (a.rows.out_indices == nullptr)
        return;
    if (a.rows.wide_indices)
        ((int64_t *)a.rows.out_indices + block)[at] = is_result ? expert + a.rows.index_base : -1;
    else
        ((int32_t *)a.rows.out_indices + block)[at] = is_result ? (int32_t)(expert + a.rows.index_base) : -1;
}

#endif
