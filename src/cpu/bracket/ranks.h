/* SPDX-License-Identifier: Apache-2.0
 * All ranks of a long row, by one pass over it. */
#ifndef TOPK_SRC_CPU_RANKS_H
#define TOPK_SRC_CPU_RANKS_H

#include "row.h"

/* kth of a row of more than SHORT_ROW_MAX elements, for each of its ranks. `matcher` as
 * topk_cpu_bracket_row() has it. */
void topk_cpu_bracket_ranks(const struct call *call, const struct kernels *kernels,
                            const struct matcher *matcher, int64_t row, struct row_extent extent,
                            const struct scratch *scratch);

#endif
