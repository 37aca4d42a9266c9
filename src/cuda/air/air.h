/* SPDX-License-Identifier: Apache-2.0
 * AIR Top-K: a radix selection in one launch per digit (docs/methods/air.md). */
#ifndef TOPK_SRC_CUDA_AIR_AIR_H
#define TOPK_SRC_CUDA_AIR_AIR_H

#include "../../method.h"
#include "../device.h"

extern const struct knob topk_air_knobs[];

const char *topk_air_refuse(const topk_context *context, const struct plan *plan);
double topk_air_cost_us(const topk_context *context, const struct plan *plan);
size_t topk_air_workspace_bytes(const topk_context *context, const struct plan *plan);
topk_status topk_air_run(const struct call *call);

/* Loads the kernels on the current device; 0 or a cudaError_t. */
int topk_air_prepare(const struct device_info *device);

#endif
