/* SPDX-License-Identifier: Apache-2.0
 *
 * What an approximate selection gives for one row (CONTRACT.md, 2.5): RTop-K's Algorithms 1 and 2, step by
 * step on the values, in the compiler's own float and double. For the default floating-point mode. */
#ifndef TESTS_ORACLE_RTOPK_H
#define TESTS_ORACLE_RTOPK_H

#include "oracle.h"

/* Selects the k best, or all, of a ranking as max_iterations, epsilon or epsilon_relative of the problem say.
 * Writes them to chosen[k] in the order of the results, whichever that is, and returns their number.
 * *steps, unless NULL, gets how many times elements were counted. */
int64_t oracle_approximate(const topk_problem *problem, const oracle_entry *ranking, int64_t length,
                           int64_t k, oracle_entry *chosen, int64_t *steps);

/* For callers in other languages, who have no topk_problem: oracle_rank() of float32 elements, largest first,
 * and oracle_approximate() by their ranking, with results in any order. One of max_iterations and epsilon
 * is 0. */
void oracle_rank_f32(const float *values, int64_t length, oracle_entry *ranking);
int64_t oracle_approximate_f32(const oracle_entry *ranking, int64_t length, int64_t k, int64_t max_iterations,
                               double epsilon, oracle_entry *chosen, int64_t *steps);

#endif
