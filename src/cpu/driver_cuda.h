/* SPDX-License-Identifier: Apache-2.0
 * Memory of a GPU that a caller hands to the CPU. Only CUDA's driver knows it, so it is asked where the
 * process has it. */
#ifndef TOPK_SRC_CPU_DRIVER_CUDA_H
#define TOPK_SRC_CPU_DRIVER_CUDA_H

#include "../context.h"

/* Sets context->driver if the process has loaded CUDA's driver; else leaves it NULL. Loads nothing. False
 * without memory. */
bool topk_cpu_driver_find(topk_context *context);
void topk_cpu_driver_leave(topk_context *context);

/* CONTRADICTION if a buffer is memory of a GPU. It is found while the calling thread has a current CUDA
 * context. Calls it with a driver only. */
topk_status topk_cpu_check_memory(const topk_context *context, const struct buffer_list *buffers);

#endif
