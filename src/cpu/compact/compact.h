/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPK_SRC_CPU_COMPACT_H
#define TOPK_SRC_CPU_COMPACT_H

#include "../../method.h"

const char *topk_compact_refuse(const topk_context *context, const struct plan *plan);
double topk_compact_cost_us(const topk_context *context, const struct plan *plan);
size_t topk_compact_workspace_bytes(const topk_context *context, const struct plan *plan);
topk_status topk_compact_run(const struct call *call);

#endif
