/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_ROW_SIZES_H
#define TESTS_ROW_SIZES_H

#include <stdint.h>

/* Row lengths around every boundary at which an implementation could change its ways, ascending and
 * without repeats, within [smallest, largest]. Returns how many. */
int sizes_between(int64_t smallest, int64_t largest, const int64_t **sizes);

/* The internal boundaries of the backend under test: one file for each backend. */
enum { ROW_BOUNDARIES_MOST = 32 };
extern const int64_t row_boundaries[];
extern const int row_boundary_count;

#endif
