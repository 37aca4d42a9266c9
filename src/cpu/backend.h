/* SPDX-License-Identifier: Apache-2.0
 * What the neutral middle sees of the CPU backend. */
#ifndef TOPK_SRC_CPU_BACKEND_H
#define TOPK_SRC_CPU_BACKEND_H

#include "../context.h"

extern const struct backend topk_cpu_backend;

/* Chooses the kernels for this machine and fills context->kernels and features. */
topk_status topk_cpu_probe(topk_context *context);

/* Threads that OpenMP would use here, at most `limit`. */
int topk_cpu_default_threads(int limit);

#endif
