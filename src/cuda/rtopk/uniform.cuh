/* SPDX-License-Identifier: Apache-2.0
 * Rows that are all alike, and their results. */
#ifndef TOPK_SRC_CUDA_RTOPK_UNIFORM_CUH
#define TOPK_SRC_CUDA_RTOPK_UNIFORM_CUH

#include "kernels.h"

template <typename Element> TOPK_DEVICE const Element *uniform_row(const struct rtopk_args &a, int64_t row) {
    return (const Element *)a.rows.values + row * a.rows.row_stride;
}

/* Writes a result to slot `at` of the outputs: an element of the row that begins at `values`, and its
 * position. */
template <typename Element>
TOPK_DEVICE void write_uniform(const struct rtopk_args &a, int64_t at, const Element *values, Element bits,
                               uint32_t position) {
    if (a.uniform.has_plain_outputs) {
        ((Element *)a.rows.out_values)[at] = bits;
        ((int32_t *)a.rows.out_indices)[at] = (int32_t)position + (int32_t)a.rows.index_base;
        return;
    }
    write_output<Element>(a.rows, at, values - (const Element *)a.rows.values, bits, position);
}

/* Fills the slots behind a row's results, which begin at `slot`. All lanes. */
template <typename Element> TOPK_DEVICE void write_uniform_rest(const struct rtopk_args &a, int64_t row) {
    for (int64_t slot = a.uniform.k + simt_lane(); slot < a.rows.k_max; slot += SIMT_WARP)
        write_padding<Element>(a.rows, row, slot);
}

#endif
