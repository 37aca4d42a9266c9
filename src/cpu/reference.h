/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPK_SRC_CPU_REFERENCE_H
#define TOPK_SRC_CPU_REFERENCE_H

#include "../method.h"

const char *topk_reference_refuse(const topk_context *context, const struct plan *plan);
double topk_reference_cost_us(const topk_context *context, const struct plan *plan);
size_t topk_reference_workspace_bytes(const topk_context *context, const struct plan *plan);
topk_status topk_reference_run(const struct call *call);

#endif
