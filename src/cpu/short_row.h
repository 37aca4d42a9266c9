/* SPDX-License-Identifier: Apache-2.0
 * One short row from start to finish, for the methods that meet such rows. */
#ifndef TOPK_SRC_CPU_SHORT_ROW_H
#define TOPK_SRC_CPU_SHORT_ROW_H

#include "matcher.h"
#include "output.h"

/* Of the buffers for one row, in elements but for the first. */
struct short_row_sizes {
    size_t element_bytes;
    size_t matches, keys, hits, entries;
};

/* For rows of up to length_max < 2^32 elements. */
struct short_row_sizes topk_cpu_short_row_sizes(const struct plan *plan, int64_t length_max);

struct short_row topk_cpu_short_row_take(struct arena *arena, const struct short_row_sizes *sizes);

/* select or kth on a row of at most the length that `buffers` were taken for. `matcher` is a
 * predicate's, or NULL; `approximation` is NULL where the call is exact. */
void topk_cpu_short_row_run(const struct call *call, const struct kernels *kernels,
                            const struct matcher *matcher, const struct approximation *approximation,
                            int64_t row, struct row_extent extent, struct short_row *buffers);

#endif
