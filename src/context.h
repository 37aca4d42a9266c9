/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPK_SRC_CONTEXT_H
#define TOPK_SRC_CONTEXT_H

#include <sys/types.h>

#include "method.h"
#include "workspace.h"

/* Immutable after creation, so that threads can share it, but for what `leaf` guards. */
struct topk_context {
    const struct backend *backend;
    int device;
    int threads; /* that calls may use, in the process that created it */
    pid_t process;
    uint64_t seed;                  /* of whatever is sampled; no result depends on it */
    const struct method *preferred; /* by TOPK_METHOD, perhaps of another backend; or NULL */
    const void *kernels;            /* the CPU's kernel set */
    void *leaf;                     /* the backend's own: cpu/team.h, cuda/leaf.h */
    void *driver;                   /* what knows memory of other devices; NULL: there is nothing to ask */
    const char *features;
};

/* Threads that can have a row of their own: none if there are no rows. */
static inline int threads_for_rows(const topk_context *context, const struct plan *plan) {
    return plan->problem.rows < context->threads ? (int)plan->problem.rows : context->threads;
}

/* As many of the threads as fit within the plan's limit of workspace, with `each_bytes` for one thread, but
 * at least one. */
static inline int threads_within_limit(const struct plan *plan, int threads, size_t each_bytes) {
    const size_t room = arena_room(plan_workspace_limit(plan));
    const size_t fitting = each_bytes == 0 ? (size_t)threads : room / each_bytes;
    return fitting >= (size_t)threads ? threads : fitting > 1 ? (int)fitting : 1;
}

enum { THREADS_MAX = 1024 };

/* A stream that the backend cannot have is CONTRADICTION. */
topk_status topk_check_stream(const topk_context *context, topk_stream stream);

/* NULL, misaligned and overlapping buffers, and memory of another device as far as that can be told. */
topk_status topk_check_memory(const topk_context *context, const struct buffer_list *buffers);

#endif
