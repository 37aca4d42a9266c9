/* SPDX-License-Identifier: Apache-2.0
 * What rtopk decides about a problem, and what its run is told of that. */
#ifndef TOPK_SRC_CUDA_RTOPK_PLAN_H
#define TOPK_SRC_CUDA_RTOPK_PLAN_H

#include "../leaf.h"
#include "approximate.h"
#include "network.h"
#include "where.h"

/* The kernels of one element width. */
struct rtopk_set {
    const struct rtopk_kernels *plain;
    const struct where_kernels *where;
    const struct network_kernels *network;
    const struct approximate_kernels *approximate;
};

enum rtopk_kernel {
    RTOPK_NONE,
    RTOPK_ROW,         /* rows stay in registers */
    RTOPK_UNEVEN,      /* in shared memory */
    RTOPK_WHERE,       /* a predicate */
    RTOPK_APPROXIMATE, /* by teams of warps */
    RTOPK_NETWORK,     /* rows that are all alike */
    RTOPK_PARTS        /* the same, approximately, by parts of a warp; rows are whole besides */
};

struct rtopk_launch {
    enum rtopk_kernel kernel;
    uint32_t index; /* row_class, network or index, as that kernel's launch calls it */
    int64_t blocks, threads;
    bool is_sorted;          /* these as in struct rtopk_args */
    uint32_t slots, entries; /* likewise */
};

struct rtopk_plan {
    const struct rtopk_set *kernels;
    struct decode_args order;
    struct number_map numbers; /* of an approximation */
    bool is_empty;             /* there is nothing to do */
    bool may_be_whole;         /* rows are whole if the first one begins at a multiple of 16 bytes */
    struct rtopk_launch alike; /* where all rows are alike, if there is a kernel for such; and else: */
    struct rtopk_launch any;
    /* Of `alike`, but for what a call knows: outputs and maps. What needs whole rows is told as if they were.
     */
    struct uniform_rows uniform;
    bool lists_numbers; /* as in struct approximate_args */
};

/* Results of a row at most. */
static inline int64_t results_max(const struct plan *plan) {
    return least(plan->problem.k_max, plan->problem.length_max);
}

/* Whether results are sorted by position. Approximations list them so. */
static inline bool is_by_position(const struct plan *plan) {
    return plan->problem.order == TOPK_ORDER_BY_POSITION && !plan->approximate;
}

static inline bool is_sorted(const struct plan *plan) {
    return plan->operation != TOPK_OPERATION_KTH &&
           (plan->problem.order == TOPK_ORDER_BEST_FIRST || is_by_position(plan));
}

/* Elements that a group of 16 bytes has. */
static inline int64_t group_elements(const struct plan *plan) {
    return 16 / (int64_t)plan->element_bytes;
}

/* Whether all rows are alike and have results, unless the device has lengths or k of its own. Signed integers
 * by magnitude have no leads. */
static inline bool may_be_uniform(const struct plan *plan) {
    const topk_problem *p = &plan->problem;
    return plan->operation == TOPK_OPERATION_SELECT && p->shape == TOPK_SHAPE_STRIDED &&
           results_max(plan) > 0 && p->rows <= INT32_MAX && plan->point_map.add == 0;
}

extern const struct knob topk_cuda_rtopk_knobs[];

/* Whether networks, and approximations in parts of a warp, may serve rows. */
bool topk_cuda_rtopk_shares_warps(const struct plan *plan);

/* How lanes put results in order. */
struct ordering {
    uint32_t words, shift; /* as in struct uniform_rows */
    double instructions;   /* of a warp; INFINITY: they cannot */
};

/* How a network serves a problem. */
struct network {
    uint32_t index;                  /* as in struct network_kernels */
    uint32_t part_shift, list_shift; /* as in struct uniform_rows */
    struct ordering ordering;        /* if results go in order */
    double of_warp;                  /* instructions of a warp, for all rows that it serves at once */
    double instructions;             /* of a warp, for a row; INFINITY: no network serves it */
};

/* The network that takes the fewest instructions. */
struct network topk_cuda_rtopk_network_of(const topk_context *context, const struct plan *plan);

/* That network serves rows that are all alike. Returns which kind it is. */
const char *topk_cuda_rtopk_take_network(const topk_context *context, const struct plan *plan,
                                         const struct network *network, struct rtopk_plan *own);

/* What a row costs if a warp serves `rows_of_warp` at once: where there are too few warps to keep the GPU
 * busy, more than its share. */
double topk_cuda_rtopk_instructions_of_row(const topk_context *context, const struct plan *plan,
                                           double of_warp, int64_t rows_of_warp);

/* Has lanes put results in order, if these go so, where one takes `most` of them at most and 1 << part_shift
 * share a row. Returns false if they cannot. */
bool topk_cuda_rtopk_order_parts(const struct plan *plan, uint32_t most, struct rtopk_plan *own);

/* Decides on an approximate selection. `entries`: of a warp's list. Returns the instructions of a row. */
double topk_cuda_rtopk_plan_approximate(const topk_context *context, const struct plan *plan,
                                        uint32_t entries, struct rtopk_plan *own);

/* struct method, run. */
int topk_cuda_rtopk_run(const struct call *call);

#endif
