/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairwise covering arrays: few rows, such that any two levels of any two dimensions meet in one of
 * them. Most defects that depend on options depend on two of them. */
#ifndef TESTS_COVERING_H
#define TESTS_COVERING_H

#include <stdint.h>

enum { COVERING_DIMENSIONS = 32 };

typedef struct covering_array {
    int count;
    int (*rows)[COVERING_DIMENSIONS]; /* levels; ended by covering_free() */
} covering_array;

covering_array covering_build(const int *level_counts, int dimensions, uint64_t seed);
void covering_free(covering_array *array);

#endif
