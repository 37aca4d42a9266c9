/* SPDX-License-Identifier: Apache-2.0
 * Rows and results, on the device. Element is the unsigned integer of an element's width. */
#ifndef TOPK_SRC_CUDA_ROWS_CUH
#define TOPK_SRC_CUDA_ROWS_CUH

#include "codes.cuh"
#include "rows.h"

struct row {
    int64_t begin;  /* first element in values */
    int64_t length; /* elements, 0 to length_max */
    int64_t k;      /* results: min(k, length) */
    int64_t wanted; /* k as asked for, 0 to k_max */
};

TOPK_DEVICE int64_t read_extent(const void *array, int64_t at, bool wide) {
    return wide ? ((const int64_t *)array)[at] : (int64_t)((const int32_t *)array)[at];
}

TOPK_DEVICE int64_t clamp_extent(int64_t value, int64_t limit) {
    return value < 0 ? 0 : value > limit ? limit : value;
}

/* Whether the call is to write nothing but its workspace: then each of its kernels returns at once. The same
 * for all threads of all of them. Called after simt_wait_predecessor. */
TOPK_DEVICE bool is_called_off(const struct row_args &a) {
    return a.condition != nullptr && *a.condition == 0;
}

/* CONTRACT.md 3.4: clamped, never reported. */
TOPK_DEVICE struct row row_at(const struct row_args &a, int64_t row) {
    struct row r;
    if (a.shape == TOPK_SHAPE_STRIDED) {
        r.begin = row * a.row_stride;
        r.length = a.lengths == nullptr
                       ? a.length_max
                       : clamp_extent(read_extent(a.lengths, row, a.wide_extents), a.length_max);
    } else {
        bool spans = a.shape == TOPK_SHAPE_SPANS;
        int64_t begin =
            spans ? read_extent(a.begins, row, a.wide_extents) : read_extent(a.offsets, row, a.wide_extents);
        int64_t end = spans ? read_extent(a.ends, row, a.wide_extents)
                            : read_extent(a.offsets, row + 1, a.wide_extents);
        r.begin = clamp_extent(begin, a.elements_max);
        r.length = clamp_extent(clamp_extent(end, a.elements_max) - r.begin, a.length_max);
    }
    r.wanted = a.k == nullptr ? a.k_max : clamp_extent(read_extent(a.k, row, a.wide_extents), a.k_max);
    r.k = r.wanted < r.length ? r.wanted : r.length;
    return r;
}

/* Whether all rows have one length and one k. */
TOPK_DEVICE bool are_rows_even(const struct row_args &a) {
    return a.shape == TOPK_SHAPE_STRIDED && a.lengths == nullptr && a.k == nullptr;
}

/* As row_at(), for even rows. */
TOPK_DEVICE struct row even_row_at(const struct row_args &a, int64_t row) {
    return {row * a.row_stride, a.length_max, a.k_max < a.length_max ? a.k_max : a.length_max, a.k_max};
}

template <typename Element>
TOPK_DEVICE const Element *row_values(const struct row_args &a, const struct row &r) {
    return (const Element *)a.values + r.begin;
}

/* The result in slot `at` of the outputs: an element's bits and its position in the row that begins at
 * `begin`. */
template <typename Element>
TOPK_DEVICE void write_output(const struct row_args &a, int64_t at, int64_t begin, Element bits,
                              int64_t position) {
    if (a.out_values != nullptr)
        ((Element *)a.out_values)[at] = bits;
    if (a.out_indices == nullptr)
        return;
    if (a.wide_indices)
        ((int64_t *)a.out_indices)[at] =
            a.payload != nullptr ? ((const int64_t *)a.payload)[begin + position] : position + a.index_base;
    else
        ((int32_t *)a.out_indices)[at] = a.payload != nullptr ? ((const int32_t *)a.payload)[begin + position]
                                                              : (int32_t)(position + a.index_base);
}

/* Result `slot` of a row. */
template <typename Element>
TOPK_DEVICE void write_result(const struct row_args &a, int64_t row, const struct row &r, int64_t slot,
                              Element bits, int64_t position) {
    write_output<Element>(a, row * a.k_max + slot, r.begin, bits, position);
}

template <typename Element>
TOPK_DEVICE void write_padding(const struct row_args &a, int64_t row, int64_t slot) {
    int64_t at = row * a.k_max + slot;
    if (a.out_values != nullptr)
        ((Element *)a.out_values)[at] = (Element)a.padding;
    if (a.out_indices != nullptr && a.wide_indices)
        ((int64_t *)a.out_indices)[at] = -1;
    if (a.out_indices != nullptr && !a.wide_indices)
        ((int32_t *)a.out_indices)[at] = -1;
}

/* Every slot `step` behind the one before, from `slot` on. */
template <typename Element>
TOPK_DEVICE void pad_from(const struct row_args &a, int64_t row, int64_t slot, uint32_t step) {
#pragma unroll 1
    for (; slot < a.k_max; slot += step)
        write_padding<Element>(a, row, slot);
}

/* The k-th class of a row: its bits and how many elements are better and equal. One thread. */
template <typename Element>
TOPK_DEVICE void write_kth(const struct kth_outputs &to, int64_t row, uint64_t bits, int64_t better,
                           int64_t equal) {
    if (to.values != nullptr)
        ((Element *)to.values)[row] = (Element)bits;
    if (to.better != nullptr)
        to.better[row] = better;
    if (to.equal != nullptr)
        to.equal[row] = equal;
}

#endif
