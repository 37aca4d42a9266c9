/* SPDX-License-Identifier: Apache-2.0
 * What ranks have agreed on, and what one rank makes of it. */
#ifndef TOPK_SRC_DIST_PLAN_H
#define TOPK_SRC_DIST_PLAN_H

#include "group.h"
#include "topk_sharded.h"

/* A list holds, for each row, the rank's candidates: all of them for gather, for histogram its results alone.
 * All lists have room for the same number of candidates, so that collectives need no lengths; but with
 * exchange_kth ranks know them. */
struct topk_dist_plan {
    topk_dist_group *group;
    topk_context *context;
    topk_operation operation;
    topk_problem problem; /* of this rank; method and tuning only while the plan is made */
    topk_dist_options options;
    topk_dist_strategy strategy; /* what was chosen */
    topk_backend backend;        /* of the context */
    bool on_device;              /* runs go the way of device.c; else data are the host's */
    double predicted_us;

    int64_t longest;             /* capacity of a row on this rank */
    int64_t list_max;            /* of a row in each rank's list: min(k_max, the greatest `longest`) */
    int64_t pitch;               /* of this rank's outputs */
    int64_t first_row, got_rows; /* whose results this rank gets */
    int64_t block_rows;          /* rows that one rank sends to another */
    int64_t winners_max;         /* of a row's results: min(k_max, ranks x list_max) */
    int64_t *bases;              /* BASE: index_base of each rank */

    int node_count, node_ranks_max; /* how many nodes there are, and the most ranks of one */
    int64_t *node_of, *place_of;    /* of each rank its node, and which rank of that it is: 0 leads */
    struct topk_dist_nodes *nodes;  /* GATHER_NODES; else NULL */
    int64_t node_max;               /* of a row in a node's list: min(k_max, node_ranks_max x list_max) */
    int64_t node_rows;              /* of one node's results: all, or node_ranks_max owners' rows */

    topk_plan *local;      /* the rank's candidates, or its count */
    topk_plan *merge;      /* of all ranks' lists, or what takes their place: to the outputs */
    topk_problem merging;  /* of all rows, for a group that sends lists and merges them at once */
    topk_plan *node_merge; /* GATHER_NODES: of the lists of a node's ranks, and of all nodes' */
    topk_plan *nodes_merge;
    topk_plan *placed;     /* IN_PLACE: the rank's results by position, from lists */
    topk_plan *own_counts; /* on a device, in place by lists: how many results are the rank's own */
    topk_plan *own_mask;   /* and by nodes which ones */
    topk_plan *best_kth;   /* exchange_kth: of the k-th elements of all ranks' lists */
    topk_plan *better;     /* likewise: of two elements */
    topk_problem counted;  /* for topk_sharded.h: the elements; the positions of ties */
    topk_problem tied;
    topk_sharded_properties counting, tying;
    int64_t piece_max;           /* elements of a row that a buffer for pieces holds; 0: there are none */
    bool any_reads;              /* a function reads the elements of some rank */
    struct topk_dist_load *load; /* on a device, if pieces are copied there; else NULL */
    topk_problem streamed;       /* PARTS, READ, READ_ONCE: of an accumulator for the rank's list */
    size_t accumulator_bytes;
    void *staging;     /* of the host, for lists of the device on their way; or NULL */
    size_t core_bytes; /* workspace of the core's calls */
    size_t workspace_bytes;
};

/* Whether ties at the k-th need rounds of their own: ranks have no runs of positions. */
static inline bool topk_dist_may_tie(const struct topk_dist_plan *plan) {
    return plan->options.map != TOPK_DIST_BASE && plan->problem.ties == TOPK_TIES_LOWEST_INDEX;
}

static inline bool topk_dist_selects(const struct topk_dist_plan *plan) {
    return plan->operation == TOPK_OPERATION_SELECT || plan->operation == TOPK_OPERATION_SELECT_WHERE;
}

static inline bool topk_dist_has_table(const struct topk_dist_plan *plan) {
    return topk_dist_selects(plan) && plan->options.map == TOPK_DIST_TABLE && plan->longest > 0 &&
           plan->problem.rows > 0;
}

/* Whether a run looks at the table of positions. */
static inline bool topk_dist_checks_table(const struct topk_dist_plan *plan) {
    return topk_dist_has_table(plan) && plan->options.trust_table == 0;
}

static inline bool topk_dist_is_placed(const struct topk_dist_plan *plan) {
    return topk_dist_selects(plan) && plan->options.destination == TOPK_DIST_IN_PLACE;
}

/* Whether lists may be merged by nodes. */
static inline bool topk_dist_has_nodes(const struct topk_dist_plan *plan) {
    return plan->group->transport->split != NULL;
}

/* Whether candidates are marked by the places of their ranks in a node: in place a device finds its own so.
 */
static inline bool topk_dist_marks_places(const struct topk_dist_plan *plan) {
    return plan->on_device && topk_dist_is_placed(plan);
}

/* Whether the rank's elements come in pieces. */
static inline bool topk_dist_is_streamed(const struct topk_dist_plan *plan) {
    return plan->options.origin != TOPK_DIST_INPUT;
}

/* Whether a function reads them. */
static inline bool topk_dist_reads(const struct topk_dist_plan *plan) {
    return plan->options.origin == TOPK_DIST_READ || plan->options.origin == TOPK_DIST_READ_ONCE;
}

/* Whether pieces lie in buffers of the workspace, not where the caller has them. */
static inline bool topk_dist_loads(const struct topk_dist_plan *plan) {
    return topk_dist_reads(plan) ||
           (plan->on_device && plan->options.origin == TOPK_DIST_PARTS && plan->options.parts_on_device == 0);
}

/* Whether lists are merged that hold the k best of each rank. */
static inline bool topk_dist_gathers(const struct topk_dist_plan *plan) {
    return plan->strategy == TOPK_DIST_GATHER || plan->strategy == TOPK_DIST_GATHER_NODES;
}

/* Whether this rank's extents can tell k of results that come from another rank, and a byte all places. */
static inline bool topk_dist_nodes_fit(const struct topk_dist_plan *plan) {
    return (plan->problem.extent_type != TOPK_INDEX_I32 || plan->winners_max <= INT32_MAX) &&
           (!topk_dist_marks_places(plan) || plan->node_ranks_max < UINT8_MAX);
}

/* Whether this rank leads its node. */
static inline bool topk_dist_leads(const struct topk_dist_plan *plan) {
    return plan->place_of[plan->group->rank] == 0;
}

/* Whether the rank's results are taken from lists. On a device ties of ranks without runs of positions are
 * told apart when lists are merged. */
static inline bool topk_dist_places_lists(const struct topk_dist_plan *plan) {
    return topk_dist_is_placed(plan) &&
           (topk_dist_gathers(plan) || (plan->on_device && topk_dist_may_tie(plan)));
}

/* Whether a rank selects its candidates to a list. In place a histogram takes results by the state of its
 * rounds, unless it needs the list for ties. */
static inline bool topk_dist_selects_lists(const struct topk_dist_plan *plan) {
    return topk_dist_selects(plan) &&
           (topk_dist_gathers(plan) || !topk_dist_is_placed(plan) || topk_dist_may_tie(plan));
}

/* Whether results lie in lists before they are delivered: also where pieces may turn out to be unreadable. */
static inline bool topk_dist_has_lists(const struct topk_dist_plan *plan) {
    return topk_dist_selects_lists(plan) || (topk_dist_selects(plan) && topk_dist_is_streamed(plan));
}

/* Whether the k-th is found by sums of counters. */
static inline bool topk_dist_counts(const struct topk_dist_plan *plan) {
    return plan->operation == TOPK_OPERATION_KTH ||
           (topk_dist_selects(plan) && plan->strategy == TOPK_DIST_HISTOGRAM);
}

static inline bool topk_dist_exchanges(const struct topk_dist_plan *plan) {
    return topk_dist_selects(plan) && topk_dist_gathers(plan) && plan->options.exchange_kth != 0 &&
           plan->list_max > 0 && !plan->on_device;
}

/* Best first, so that merging need not sort; unless any order will do and nothing else asks for one. */
static inline topk_order topk_dist_list_order(const struct topk_dist_plan *plan) {
    const bool free = plan->problem.order == TOPK_ORDER_ANY && !topk_dist_is_placed(plan) &&
                      !topk_dist_exchanges(plan) && (topk_dist_gathers(plan) || !topk_dist_may_tie(plan));
    return free ? TOPK_ORDER_ANY : TOPK_ORDER_BEST_FIRST;
}

/* For topk_sharded_select(): positions on the rank, plus index_base where ranks have runs. */
static inline topk_problem topk_dist_placed_problem(const struct topk_dist_plan *plan) {
    topk_problem problem = plan->counted;
    problem.index_base = plan->options.map == TOPK_DIST_BASE ? problem.index_base : 0;
    return problem;
}

static inline size_t topk_dist_integer_bytes(topk_index_type type) {
    return type == TOPK_INDEX_I32 ? 4 : 8;
}

static inline int64_t topk_dist_read_integer(topk_index_type type, const void *array, int64_t at) {
    return type == TOPK_INDEX_I32 ? ((const int32_t *)array)[at] : ((const int64_t *)array)[at];
}

static inline void topk_dist_write_integer(topk_index_type type, void *array, int64_t at, int64_t number) {
    if (type == TOPK_INDEX_I32) {
        ((int32_t *)array)[at] = (int32_t)number;
    } else {
        ((int64_t *)array)[at] = number;
    }
}

#endif
