/* SPDX-License-Identifier: Apache-2.0
 * What a backend is: an ordered table of methods, the reference last. */
#ifndef TOPK_SRC_METHOD_H
#define TOPK_SRC_METHOD_H

#include "predicate.h"
#include "problem.h"
#include "tuning.h"

/* One call, validated: everything that a method needs to run. */
struct call {
    const topk_context *context;
    const struct plan *plan;
    topk_input input;
    void *workspace;
    void *values;                           /* select, select_where, where: results; kth: the k-th elements */
    void *indices;                          /* select, select_where, where */
    int64_t *better, *equal;                /* kth */
    const struct topk_predicate *predicate; /* all but select and kth; else NULL */
    int64_t capacity;                       /* where */
    int64_t *offsets;                       /* where */
    int64_t *counts;                        /* count */
    unsigned char *mask;                    /* mask */
    topk_stream stream;                     /* NULL on the CPU */
};

/* A method serves an operation on a problem with a workspace that depends on the plan alone.
 * `refuse` returns why the method cannot serve, or NULL; operation and tuning are within what the table
 * states when it is asked. */
struct method {
    const char *name;
    unsigned operations;      /* set of OPERATION_BIT */
    const struct knob *knobs; /* NULL: none */
    const char *(*refuse)(const topk_context *context, const struct plan *plan);
    double (*cost_us)(const topk_context *context, const struct plan *plan);
    size_t (*workspace_bytes)(const topk_context *context, const struct plan *plan);
    topk_status (*run)(const struct call *call);
};

#define OPERATION_BIT(operation) (1u << (operation))

struct backend {
    const char *name;
    const struct method *methods;
    size_t method_count;
};

enum { METHODS_MAX = 16 };

#endif
