/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPK_SRC_CPU_ROWS_H
#define TOPK_SRC_CPU_ROWS_H

#include "../method.h"

const char *topk_rows_refuse(const topk_context *context, const struct plan *plan);
double topk_rows_cost_us(const topk_context *context, const struct plan *plan);
size_t topk_rows_workspace_bytes(const topk_context *context, const struct plan *plan);
topk_status topk_rows_run(const struct call *call);

#endif
