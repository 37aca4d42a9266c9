/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_ROW_SIZES_H
#define TESTS_ROW_SIZES_H

#include <stdint.h>

/* Row lengths around every boundary at which an implementation could change its ways, ascending and
 * without repeats, none above `largest`. Returns how many. */
int sizes_up_to(int64_t largest, const int64_t **sizes);

#endif
