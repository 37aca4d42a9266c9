/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPK_SRC_CPU_BRACKET_ROW_H
#define TOPK_SRC_CPU_BRACKET_ROW_H

#include "../matcher.h"
#include "scratch.h"

/* select or kth on one row of more than SHORT_ROW_MAX elements, at most scratch->length_cap. `matcher` is a
 * predicate's, or NULL. */
void topk_cpu_bracket_row(const struct call *call, const struct kernels *kernels,
                          const struct matcher *matcher, int64_t row, struct row_extent extent,
                          const struct scratch *scratch);

#endif
