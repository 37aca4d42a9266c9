/* SPDX-License-Identifier: Apache-2.0
 * How many threads calls may use. */
#ifndef TOPK_SRC_THREADS_H
#define TOPK_SRC_THREADS_H

#include "context.h"

/* Remembers the process that creates the first context. */
void topk_note_process(void);

/* Threads that a call in this process may use: one in a child of the process that created the first
 * context, where OpenMP's threads are gone. */
int topk_context_threads(const topk_context *context);

#endif
