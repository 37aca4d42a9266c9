/* SPDX-License-Identifier: Apache-2.0
 * Rows that are all alike, and their results. */
#ifndef TOPK_SRC_CUDA_RTOPK_UNIFORM_CUH
#define TOPK_SRC_CUDA_RTOPK_UNIFORM_CUH

#include "../rows.cuh"
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

/* ---- Several rows of a warp at once ---- */

/* `count` rows from `first` on. */
struct served_rows {
    int64_t first;
    uint32_t count;
};

/* Of this warp, which has room for `parts`. */
TOPK_DEVICE served_rows rows_of_warp(const struct rtopk_args &a, uint32_t parts) {
    const int64_t first = ((int64_t)simt_block() * simt_warps() + simt_warp()) * parts;
    const int64_t rest = a.rows.rows - first;
    return served_rows{first, rest <= 0 ? 0 : rest < parts ? (uint32_t)rest : parts};
}

/* A row where it lies in memory. */
template <typename Element> struct row_in_memory {
    const Element *values;

    TOPK_MEMBER Element element(uint32_t position) const {
        return simt_load_read_only(values + position);
    }
    TOPK_MEMBER row_in_memory in_register(void) const {
        return row_in_memory{simt_in_register(values)};
    }
};

/* A warp's rows. */
template <typename Element> struct rows_in_memory {
    const Element *values;
    int64_t stride;

    TOPK_MEMBER row_in_memory<Element> row(uint32_t index) const {
        return row_in_memory<Element>{values + index * stride};
    }
};

template <typename Element>
TOPK_DEVICE rows_in_memory<Element> rows_from(const struct rtopk_args &a, const served_rows &s) {
    return rows_in_memory<Element>{simt_in_register(uniform_row<Element>(a, s.first)), a.rows.row_stride};
}

/* Writes the results of rows, whose positions are listed, k for each row. All lanes. */
template <typename Element, typename Rows>
TOPK_DEVICE void write_results(const struct rtopk_args &a, const served_rows &s, simt_shared<uint16_t> list,
                               const Rows &rows) {
    const struct uniform_rows &u = a.uniform;
    if (u.has_plain_outputs && !u.has_padding) {
        Element *out_values = (Element *)a.rows.out_values + s.first * u.k;
        int32_t *out_indices = (int32_t *)a.rows.out_indices + s.first * u.k;
#pragma unroll 4
        for (uint32_t at = simt_lane(); at < s.count * u.k; at += SIMT_WARP) {
            const uint32_t r = at * u.reciprocal >> RTOPK_RECIPROCAL_BITS, position = (uint16_t)list[at];
            out_values[at] = rows.row(r).element(position);
            out_indices[at] = (int32_t)position + (int32_t)a.rows.index_base;
        }
        return;
    }
#pragma unroll 1
    for (uint32_t at = simt_lane(); at < s.count * u.k; at += SIMT_WARP) {
        const uint32_t r = at * u.reciprocal >> RTOPK_RECIPROCAL_BITS, position = (uint16_t)list[at];
        write_uniform(a, (s.first + r) * a.rows.k_max + (at - r * u.k), uniform_row<Element>(a, s.first + r),
                      rows.row(r).element(position), position);
    }
}

/* Fills the slots behind their results. All lanes. */
template <typename Element> TOPK_DEVICE void write_rests(const struct rtopk_args &a, const served_rows &s) {
    for (uint32_t r = 0; r < s.count; r++)
        write_uniform_rest<Element>(a, s.first + r);
}

#endif
