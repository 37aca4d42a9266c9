/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "merge.h"

#include <stdlib.h>

static int64_t read_integer(const void *array, topk_index_type type, int64_t at) {
    return type == TOPK_INDEX_I32 ? ((const int32_t *)array)[at] : ((const int64_t *)array)[at];
}

static int compare(const void *left, const void *right, void *problem) {
    const oracle_candidate *a = left, *b = right;
    int order = oracle_order(problem, &a->number, &b->number);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

void oracle_sort_candidates(const topk_problem *problem, oracle_candidate *candidates, int64_t count) {
    topk_problem copy = *problem;
    if (count > 1) {
        qsort_r(candidates, (size_t)count, sizeof *candidates, compare, &copy);
    }
}

static int64_t row_stride(const topk_problem *problem) {
    return problem->row_stride != 0 ? problem->row_stride : problem->length_max;
}

int64_t oracle_list_stride(const topk_problem *problem, const topk_lists *lists) {
    return lists->list_stride != 0 ? lists->list_stride : problem->rows * row_stride(problem);
}

int64_t oracle_merge(const topk_problem *problem, const topk_input *input, const topk_lists *lists,
                     int64_t row, oracle_candidate *candidates) {
    const size_t size = oracle_type_size(problem->type);
    int64_t count = 0;
    for (int64_t list = 0; list < lists->lists; list++) {
        int64_t begin = list * oracle_list_stride(problem, lists) + row * row_stride(problem);
        int64_t length = problem->length_max;
        if (input->lengths != NULL) {
            int64_t given = read_integer(input->lengths, problem->extent_type, list * problem->rows + row);
            length = given < 0 ? 0 : given < length ? given : length;
        }
        for (int64_t element = begin; element < begin + length; element++) {
            int64_t index = read_integer(input->indices, problem->index_type, element);
            if (index < -1) {
                return ORACLE_MERGE_INVALID;
            }
            if (index >= 0) {
                candidates[count].number =
                    oracle_decode(problem->type, (const char *)input->values + (size_t)element * size);
                candidates[count].index = index;
                candidates[count].element = element;
                count++;
            }
        }
    }
    oracle_sort_candidates(problem, candidates, count);
    return count;
}
