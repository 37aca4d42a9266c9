/* SPDX-License-Identifier: Apache-2.0
 *
 * What a call must write, every byte of it, by the oracle. For problems with order best first and ties by
 * position, whose results have no freedom. All pointers are to host memory. */
#ifndef TESTS_EXPECTED_H
#define TESTS_EXPECTED_H

#include "oracle.h"

void expected_select(const topk_problem *problem, const topk_input *input, void *values, void *indices);
void expected_kth(const topk_problem *problem, const topk_input *input, void *kth, int64_t *better,
                  int64_t *equal);

#endif
