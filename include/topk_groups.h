/* SPDX-License-Identifier: Apache-2.0
 *
 * The k best elements of each group, where each element names its group: SQL's top n of each group, without a
 * sort. Elements of a group may lie anywhere in the input.
 *
 * A group is a number from 0 on, and is a row of the results. From TOPK_PROBLEM_INIT on, set in the problem
 *
 *   type         of the elements
 *   rows         how many groups there are
 *   length_max   how many elements there are, of all groups together
 *   k_max        how many results each group gets
 *
 * and, where the default does not fit, index_type, extent_type (of the group numbers, int64 unless it says
 * TOPK_INDEX_I32, and of k), index_base, direction, rank, nan, ties, order, and what topk_advanced.h
 * explains. row_stride must be 0. */
#ifndef TOPK_GROUPS_H
#define TOPK_GROUPS_H

#include "topk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Finds the k best elements of each group: what topk_select() finds for a row of the group's elements alone,
 * in the order in which they lie in the input, but that positions count in the whole input.
 *
 * input     values   length_max elements
 *           groups   length_max numbers: the group of each element. An element whose number is below 0, or
 *                    at least rows, belongs to none, and is left out
 *           indices  NULL, or for each element what is written as its index
 *           k        NULL (k_max for every group) or k for each group
 *           all else NULL
 * values    rows x k_max elements, or NULL: copies of elements, bit for bit
 * indices   rows x k_max, or NULL: positions in the input plus index_base, or entries of input->indices
 * counts    rows counts, or NULL: how many elements each group has, also where these are more than k
 *
 * A group of fewer than k elements ends in padding, as rows of topk_select() do. Groups may be empty.
 *
 * In a run or a plan of TOPK_OPERATION_SELECT_BY the outputs are those of topk_output of these names.
 *
 * Statuses as topk_select(). They are NULL_POINTER without groups; CONTRADICTION for a row_stride, begins,
 * ends or offsets; UNSUPPORTED for other shapes, and for lengths. */
TOPK_API topk_status topk_select_by(topk_context *context, const topk_problem *problem,
                                    const topk_input *input, void *values, void *indices, int64_t *counts,
                                    void *workspace, size_t workspace_bytes, topk_stream stream);

#ifdef __cplusplus
}
#endif

#endif /* TOPK_GROUPS_H */
