/* SPDX-License-Identifier: Apache-2.0
 * Many short rows, dealt to the threads in batches: what the methods rows and rtopk share. */
#ifndef TOPK_SRC_CPU_ROW_BATCHES_H
#define TOPK_SRC_CPU_ROW_BATCHES_H

#include "../method.h"
#include "short_row.h"

/* What is decided of them. */
struct row_batches {
    struct short_row_sizes sizes;
    size_t part_bytes; /* of a thread's workspace */
    int threads;       /* at most */
    int64_t batch;     /* rows */
};

/* What they are expected to take. */
double topk_cpu_row_batches_us(const topk_context *context, const struct plan *plan);

/* Fills cost and workspace of the decision, too. */
void topk_cpu_row_batches_plan(const topk_context *context, const struct plan *plan,
                               struct row_batches *batches, struct decision *decision);

/* `approximation` is NULL where the call is exact. */
void topk_cpu_row_batches_run(const struct call *call, const struct row_batches *batches,
                              const struct approximation *approximation);

#endif
