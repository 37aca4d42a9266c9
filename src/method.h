/* SPDX-License-Identifier: Apache-2.0
 * What a method is, and what a backend is: a table of methods, with a door to its device. */
#ifndef TOPK_SRC_METHOD_H
#define TOPK_SRC_METHOD_H

#include "lists.h"
#include "predicate.h"
#include "problem.h"
#include "routing.h"
#include "tuning.h"

/* What a method has found of each row, in the order of positions: min(k, length) elements, but no more than
 * counts[row]. The method that puts them in order may write to both arrays. */
struct found {
    void *elements;        /* rows x k_max: their bits */
    void *positions;       /* rows x k_max, uint32_t or uint64_t */
    const int64_t *counts; /* on the device; NULL: there is no such limit */
};

/* Memory for what methods decide of one problem. It does not move, for decisions point into it. Each call
 * inside another one takes as much as its plan. What the deepest chain of methods keeps is less than half of
 * it, which a test counts. */
enum { ROOM_BYTES = 32768 };
struct room {
    size_t used;
    _Alignas(16) unsigned char bytes[ROOM_BYTES];
};

/* Takes memory that is not cleared. */
void *topk_room_take(struct room *room, size_t bytes);

struct call;

/* What a method has decided about a problem: made once, and then the same for each run. Whatever follows from
 * the problem and the context alone is decided here, and nothing of it again in run(). */
struct decision {
    const char *cannot;     /* why the method cannot serve, or NULL; the other fields then mean nothing */
    const char *variant;    /* which of its ways: a constant text, or NULL if it has one */
    int launches;           /* of kernels, at most; 0 on the CPU */
    double cost_us;         /* predicted */
    size_t workspace_bytes; /* SIZE_MAX: more than the address space has */
    const void *own;        /* what run() is told, in a room; NULL: nothing */
    int (*run)(const struct call *call); /* the method's, unless its plan() names another */
};

/* One call, validated: everything that a method needs to run. */
struct call {
    const topk_context *context;
    const struct plan *plan;
    const struct decision *decision;
    topk_input input;
    void *workspace;
    void *values;                           /* kth, kth_where: the k-th elements; else results */
    void *indices;                          /* select, select_where, where, route, merge, select_by */
    int64_t *better, *equal;                /* kth, kth_where */
    const struct topk_predicate *predicate; /* of operations that take one; else NULL */
    int64_t capacity;                       /* where */
    int64_t *offsets;                       /* where */
    int64_t *counts;                        /* count, select_by */
    unsigned char *mask;                    /* mask */
    const topk_routing *routing;            /* route; else NULL */
    float *weights;                         /* route */
    const topk_lists *lists;                /* merge, with list_stride resolved; else NULL */
    void *payload;                          /* merge */
    const struct peer_lists *exchange;      /* merge: how ranks bring the lists together first; else NULL */
    topk_stream stream;                     /* NULL on the CPU */
    /* Of a call inside another one: subcall.h. */
    const struct found *found; /* in place of the rows, for sort that has decided so; else NULL */
    /* Of a GPU: what is added to the positions among the results, besides problem.index_base. No decision
     * depends on it. */
    int64_t base;
    /* Of a GPU: a launch of the outer call follows the last one of this call, and may start early. */
    bool is_followed;
    /* On the device; NULL: none. If it is 0 the call writes to its workspace alone, and each kernel returns
     * at once. It must not change while the call runs. On a GPU, for operations in which elements rank. */
    const uint32_t *condition;
};

/* A method serves some operations. It is one constant, which its own file defines; its functions are static.
 * The problem alone decides whether a method can serve, what that costs, and how much workspace it needs. */
struct method {
    const char *name;
    unsigned operations;      /* set of OPERATION_BIT */
    bool approximates;        /* takes max_iterations and epsilon; else its results are exact */
    const struct knob *knobs; /* NULL: none */
    /* At most what plan() predicts for a problem without tuning, from a few divisions: so calls need not ask
     * methods that cost too much. INFINITY: it cannot serve. DBL_MAX: its workspace exceeds the bound of
     * CONTRACT.md 7.2. NULL: 0. */
    double (*least_us)(const topk_context *context, const struct plan *plan);
    /* Decides: all fields of *decision, which is cleared before but for `run`. Operation and tuning are
     * within what is stated above. What run() is to be told is taken from the room. */
    void (*plan)(const topk_context *context, const struct plan *plan, struct room *room,
                 struct decision *decision);
    /* When a context is created: loads what `run` needs, since a call may neither allocate nor wait. NULL:
     * there is nothing to load. Returns 0 or an error of the backend. */
    int (*prepare)(const topk_context *context);
    /* With the context's device current. Returns 0 or an error of the backend, which struct backend puts into
     * words. */
    int (*run)(const struct call *call);
};

#define OPERATION_BIT(operation) (1u << (operation))

/* Sets of operations that go together. */
enum {
    SELECTS = OPERATION_BIT(TOPK_OPERATION_SELECT) | OPERATION_BIT(TOPK_OPERATION_KTH),
    SELECTS_WHERE = SELECTS | OPERATION_BIT(TOPK_OPERATION_SELECT_WHERE),
    SELECTS_KTH_WHERE = SELECTS_WHERE | OPERATION_BIT(TOPK_OPERATION_KTH_WHERE),
    COMPACTS = OPERATION_BIT(TOPK_OPERATION_WHERE) | OPERATION_BIT(TOPK_OPERATION_COUNT) |
               OPERATION_BIT(TOPK_OPERATION_MASK),
};

/* For methods.h of a backend, which lists them once. */
#define METHOD_DECLARATION(constant) extern const struct method constant;
#define METHOD_ADDRESS(constant) &constant,

enum { METHODS_MAX = 16 };

struct accumulators;
struct sharding;
struct peering;

/* All that differs between backends. The middle asks these fields and knows no backend by name. */
struct backend {
    const char *name;
    topk_backend kind;
    bool has_streams;                        /* else topk_stream must be NULL */
    const struct accumulators *accumulators; /* accumulator.h */
    const struct sharding *sharding;         /* sharded.h; NULL: it has none */
    const struct peering *peering;           /* peer.h; likewise */
    const struct transfers *transfers;       /* transfer.h */
    const struct method *const *methods;     /* in the order of topk_explain, the reference last */
    size_t method_count;
    /* TOPK_OK if this build has the backend and this machine a device that it can use. */
    topk_status (*status)(void);
    /* Opens device context->device and prepares all methods: fills the fields of struct topk_context that
     * belong to the backend. If it fails it leaves nothing behind. */
    topk_status (*open)(const topk_context_options *options, topk_context *context);
    void (*close)(topk_context *context);
    /* What a method decides of a plan with ranks, whose plan() is then asked about another plan. NULL:
     * methods serve ranks themselves. */
    void (*decide_ranks)(const topk_context *context, const struct plan *plan, const struct method *method,
                         struct room *room, struct decision *decision);
    /* TOPK_OK if methods can evaluate a valid predicate. NULL: they can each. */
    topk_status (*check_predicate)(const struct plan *plan, const topk_predicate *predicate);
    /* Runs the call, as its method has decided, on the context's device. */
    topk_status (*run)(const struct call *call);
    /* Of contexts with a driver: CONTRADICTION for memory that it knows as another device's. NULL: no context
     * has one. */
    topk_status (*check_memory)(const topk_context *context, const struct buffer_list *buffers);
    /* Memory for workspaces, of the context's device; for simple.c, since a call may neither allocate nor
     * wait. Releasing waits for all work of the device, which may still use the memory, and fails, with the
     * memory as it was, if it cannot wait. */
    topk_status (*allocate)(const topk_context *context, size_t bytes, void **memory);
    topk_status (*release)(const topk_context *context, void *memory);
};

#endif
