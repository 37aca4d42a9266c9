/* SPDX-License-Identifier: Apache-2.0
 * How many threads calls may use. */
#ifndef TOPK_SRC_THREADS_H
#define TOPK_SRC_THREADS_H

#include "context.h"

/* Threads that a call in this process may use: one in another than the context's own, such as a forked child,
 * where the context's other threads are missing. */
int topk_context_threads(const topk_context *context);

#endif
