/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPK_SRC_CONTEXT_H
#define TOPK_SRC_CONTEXT_H

#include <sys/types.h>

#include "method.h"

/* Immutable after creation, so that threads can share it. */
struct topk_context {
    const struct backend *backend;
    topk_backend kind;
    int device;
    int threads;
    pid_t creator;               /* a forked child runs on one thread */
    const struct method *forced; /* by the environment, or NULL */
    const void *kernels;         /* the backend's own: the CPU's kernel set */
    const char *features;
};

/* Threads that a call in this process may use. */
int topk_context_threads(const topk_context *context);

#endif
