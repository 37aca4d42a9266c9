/* SPDX-License-Identifier: Apache-2.0
 *
 * What topk_merge() gives for one row: all of its candidates, sorted. */
#ifndef TESTS_ORACLE_MERGE_H
#define TESTS_ORACLE_MERGE_H

#include "oracle.h"
#include "topk_merge.h"

typedef struct oracle_candidate {
    oracle_number number;
    int64_t index;
    int64_t element; /* of input->values */
} oracle_candidate;

enum { ORACLE_MERGE_INVALID = -1 };

/* Elements from a list of a row to the row's next one. */
int64_t oracle_list_stride(const topk_problem *problem, const topk_lists *lists);

/* Sorts candidates, best first, ties by index. */
void oracle_sort_candidates(const topk_problem *problem, oracle_candidate *candidates, int64_t count);

/* Writes the candidates of a row, best first, and returns how many they are; or ORACLE_MERGE_INVALID.
 * `candidates` has room for all elements of the row's lists. Pointers of the input are the host's. */
int64_t oracle_merge(const topk_problem *problem, const topk_input *input, const topk_lists *lists,
                     int64_t row, oracle_candidate *candidates);

#endif
