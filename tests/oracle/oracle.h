/* SPDX-License-Identifier: Apache-2.0
 *
 * What the right answer is, for one row, by the plainest means that CONTRACT.md allows. Shares
 * nothing with the library but the public header. */
#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H

#include "number.h"

/* Where row r lies and how many results it asks for, after all clamping (CONTRACT.md, 3.4). */
typedef struct oracle_row {
    int64_t first; /* element of input->values */
    int64_t length;
    int64_t k;
} oracle_row;

oracle_row oracle_resolve_row(const topk_problem *problem, const topk_input *input, int64_t row);

/* One element of a row, decoded. */
typedef struct oracle_entry {
    oracle_number number;
    int64_t position; /* in its row, from 0 */
} oracle_entry;

/* Below 0 if a ranks above b, 0 if they tie, without regard to their positions. */
int oracle_order(const topk_problem *problem, const oracle_number *a, const oracle_number *b);

/* Writes the elements of a row to ranking[length], best first, ties by position. */
void oracle_rank(const topk_problem *problem, const void *values, int64_t length, oracle_entry *ranking);

/* The k-th of a ranking, and how many elements are better and equal. k from 1 to length. */
typedef struct oracle_kth {
    int64_t better, equal;
} oracle_kth;

oracle_kth oracle_kth_counts(const topk_problem *problem, const oracle_entry *ranking, int64_t length,
                             int64_t k);

/* Whether an element of input->values meets the predicate (CONTRACT.md, 6), unless it is AT_LEAST. */
bool oracle_matches(topk_type type, const topk_input *input, const topk_predicate *predicate,
                    int64_t element);

/* Whether an element of that row meets AT_LEAST. */
bool oracle_at_least(const topk_problem *problem, const topk_input *input, const topk_predicate *predicate,
                     int64_t row, int64_t element);

/* Copies the entries of a ranking whose elements match, in their order, and returns how many. `matches`
 * says for each element of the row, from its first, whether it does. */
int64_t oracle_keep(const oracle_entry *ranking, int64_t length, const bool *matches, oracle_entry *kept);

#endif
