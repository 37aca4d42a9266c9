/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPK_SRC_CPU_BRACKET_H
#define TOPK_SRC_CPU_BRACKET_H

#include "../../method.h"

const char *topk_bracket_refuse(const topk_context *context, const struct plan *plan);
double topk_bracket_cost_us(const topk_context *context, const struct plan *plan);
size_t topk_bracket_workspace_bytes(const topk_context *context, const struct plan *plan);
topk_status topk_bracket_run(const struct call *call);

#endif
