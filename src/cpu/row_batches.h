/* SPDX-License-Identifier: Apache-2.0
 * Many short rows, dealt to the threads in batches: what the methods rows and rtopk share. */
#ifndef TOPK_SRC_CPU_ROW_BATCHES_H
#define TOPK_SRC_CPU_ROW_BATCHES_H

#include "../method.h"
#include "kernels/kernels.h"

double topk_cpu_row_batches_cost_us(const topk_context *context, const struct plan *plan);

size_t topk_cpu_row_batches_bytes(const topk_context *context, const struct plan *plan);

/* Runs the call over a workspace of so many bytes. `approximation` is NULL where the call is exact. */
void topk_cpu_row_batches_run(const struct call *call, const struct approximation *approximation);

#endif
