/* SPDX-License-Identifier: Apache-2.0
 *
 * Merging of candidates: for each row the k best of several lists, as parts of a row leave them that were
 * selected from on their own, by several threads, devices or machines.
 *
 * Where each list holds the k best of its part of a row, with global positions as indices (select with
 * index_base, or with an index array), merging gives what topk_select() gives for the whole row, bit for bit.
 *
 * A topk_lists says how many lists a row has and where they lie. From TOPK_PROBLEM_INIT on, set in the
 * problem
 *
 *   type         of the candidates
 *   rows         how many rows there are: each has the same number of lists
 *   length_max   capacity of a list
 *   k_max        how many results each row gets
 *
 * and, where the default does not fit, row_stride (elements from a row's list to the next row's), index_type
 * (of the candidates' indices and the results'), extent_type, direction, rank, nan, ties, order, and what
 * topk_advanced.h explains. index_base is ignored: indices are the caller's. */
#ifndef TOPK_MERGE_H
#define TOPK_MERGE_H

#include "topk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is known of the order of the candidates within a list. */
typedef enum topk_sorted {
    TOPK_SORTED_NOT = 0, /* nothing */
    /* Each list is best first by the problem's direction, rank and nan, ties by lowest index, padding last:
     * as topk_select() writes it by default. This is trusted. If it does not hold, the row's results are any
     * of its candidates or padding, and some slots may keep what they held; no other memory is touched. */
    TOPK_SORTED_BEST_FIRST = 1
} topk_sorted;

/* The lists of a problem. Element i of list l of row r is element l * list_stride + r * row_stride + i of
 * values, indices and payload. Start from TOPK_LISTS_INIT. */
typedef struct topk_lists {
    size_t size;           /* sizeof(topk_lists) */
    int64_t lists;         /* of each row, >= 0 */
    int64_t list_stride;   /* elements from a list of a row to the row's next one, >= 0; 0: rows * row_stride,
                              as an all-gather of topk_select()'s outputs leaves them */
    const void *payload;   /* NULL, or payload_bytes of each candidate, never compared: aligned to that */
    int64_t payload_bytes; /* 0 (none), 1, 2, 4, 8 or 16 */
    topk_sorted sorted;    /* what holds of all lists */
} topk_lists;

#define TOPK_LISTS_INIT                                                                                      \
    { sizeof(topk_lists), 0, 0, NULL, 0, TOPK_SORTED_NOT }

/* Finds the k best candidates of each row.
 *
 * input     values   elements
 *           indices  an index for each element: at least 0, and no two of a row the same. Ties go to the
 *                    lowest, and order by position ascends by it. -1 is padding, which is ignored
 *           lengths  NULL (all lists are full) or lists x rows lengths, of list l of row r at l * rows + r
 *           k        NULL (k_max for every row) or k for each row
 *           all else NULL
 * values    rows x k_max elements, or NULL: copies of candidates, bit for bit
 * indices   rows x k_max, or NULL: theirs
 * payload   rows x k_max times lists->payload_bytes, or NULL: theirs
 *
 * Slots beyond a row's candidates, or its k, hold padding: index -1, the padding value of topk_select(), and
 * a payload of zeros. A row that has any other negative index within the lengths of its lists is invalid: all
 * of its slots hold padding, but index -2. So all indices are read, also of sorted lists. Where two
 * candidates of a row have the same index, the results are any of its candidates or padding, and some slots
 * may keep what they held.
 *
 * In a run or a plan of TOPK_OPERATION_MERGE the lists are input->lists. The workspace does not depend on
 * them.
 *
 * Statuses as topk_select(). They are OUT_OF_RANGE for a negative number of lists or stride, or another
 * number of payload_bytes; CONTRADICTION for a payload, input or output, if payload_bytes is 0; NULL_POINTER
 * without indices, or without a payload if one is asked for; UNSUPPORTED for other shapes. */
TOPK_API topk_status topk_merge(topk_context *context, const topk_problem *problem, const topk_input *input,
                                const topk_lists *lists, void *values, void *indices, void *payload,
                                void *workspace, size_t workspace_bytes, topk_stream stream);

#ifdef __cplusplus
}
#endif

#endif /* TOPK_MERGE_H */
