/* SPDX-License-Identifier: Apache-2.0
 * Whether and how rows are streamed. */
#ifndef TOPK_SRC_CUDA_RESIDENT_STREAMED_H
#define TOPK_SRC_CUDA_RESIDENT_STREAMED_H

#include "../leaf.h"

/* Whether the kernel serves the problem, whatever its data; and whether a sample of rows of that length tells
 * a bound that keeps few enough. */
bool topk_cuda_resident_can_stream(const topk_context *context, const struct plan *plan);
bool topk_cuda_resident_is_sampled(const struct plan *plan);

/* The predicted time. */
double topk_cuda_resident_streamed_us(const topk_context *context, const struct plan *plan);

int topk_cuda_resident_prepare_streamed(struct device_info *device);
int topk_cuda_resident_run_streamed(const struct call *call);

#endif
