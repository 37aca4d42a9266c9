/* SPDX-License-Identifier: Apache-2.0
 * topk_where, topk_count and topk_mask on the GPU: stream compaction in one pass with look-back, or in three
 * phases as published. */
#ifndef TOPK_SRC_CUDA_COMPACT_COMPACT_H
#define TOPK_SRC_CUDA_COMPACT_COMPACT_H

#include "../../method.h"
#include "../device.h"

extern const struct knob topk_cuda_compact_knobs[];

const char *topk_cuda_compact_refuse(const topk_context *context, const struct plan *plan);
double topk_cuda_compact_cost_us(const topk_context *context, const struct plan *plan);
size_t topk_cuda_compact_workspace_bytes(const topk_context *context, const struct plan *plan);
topk_status topk_cuda_compact_run(const struct call *call);

/* Loads the kernels on the current device; 0 or a cudaError_t. */
int topk_cuda_compact_prepare(const struct device_info *device);

#endif
