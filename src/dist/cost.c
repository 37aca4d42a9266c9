/* SPDX-License-Identifier: Apache-2.0
 *
 * A strategy takes as long as its slowest rank: what the core predicts for the rank's own elements, and what
 * is sent and merged. The constants are what two ranks of Open MPI 4.1 took on two cores of an EPYC, in
 * shared memory (topk-bench-dist); between nodes, what MPI_Allgather of the two took by TCP over the
 * loopback: a network is slower, and there nodes pay for shorter lists. Times of GPUs are what two H200 took
 * that NVLink connects, over peer memory and NCCL (topk-bench-peers); between nodes of GPUs a network of 400
 * Gbit/s is assumed. */
#include "cost.h"

#include "error.h"
#include "topk_advanced.h"

/* Of a collective for each doubling of the ranks, and of a byte that a rank gets. */
struct way {
    double latency_us, byte_us;
};

static const struct way WITHIN = {5, 1.0 / 1500};   /* a node */
static const struct way BETWEEN = {13, 1.0 / 1100}; /* nodes */

static const struct way LINKED = {5, 1.0 / 200000};  /* GPUs of a node, whose group enqueues */
static const struct way NETWORK = {15, 1.0 / 50000}; /* nodes of such GPUs */

static const double MERGE_US = 0.013;          /* of a candidate */
static const double GPU_MERGE_US = 1.0 / 5000; /* on a GPU */
static const double GPU_PLACE_US = 1.0 / 770;  /* in place, where candidates are put in order of position */
static const double GPU_PLACES_US = 45;        /* and by launches, however few they are */
static const double COUNT_US = 0.0024;         /* of an element that a thread counts, in all rounds */

static const double LOAD_US = 1.0 / 54000; /* of a byte from pinned memory to a GPU: PCIe 5.0 x16 */

static const double NEVER_US = 1e15; /* what a rank cannot do */

enum { TOLD_PER_US = 1000, STRATEGIES = TOPK_DIST_GATHER_NODES + 1 };

static double way_us(const struct way *way, int ranks, double bytes) {
    double steps = 0;
    for (int reached = 1; reached < ranks; reached *= 2) {
        steps++;
    }
    return steps * way->latency_us + bytes * way->byte_us;
}

static bool is_linked(const struct topk_dist_plan *plan) {
    return plan->backend != TOPK_BACKEND_CPU && plan->group->on_stream != NULL;
}

static const struct way *within(const struct topk_dist_plan *plan) {
    return is_linked(plan) ? &LINKED : &WITHIN;
}

static const struct way *between(const struct topk_dist_plan *plan) {
    return is_linked(plan) ? &NETWORK : &BETWEEN;
}

/* Of all ranks: bytes come from all of them alike, so mostly from other nodes. */
static double collective_us(const struct topk_dist_plan *plan, double bytes) {
    const double from_own_node = bytes * plan->node_ranks_max / plan->group->ranks;
    return way_us(within(plan), plan->node_ranks_max, from_own_node) +
           way_us(between(plan), plan->node_count, bytes - from_own_node);
}

static double candidate_bytes(const struct topk_dist_plan *plan) {
    return (double)(topk_type_size(plan->problem.type) + topk_dist_integer_bytes(plan->problem.index_type));
}

static double merge_us(const struct topk_dist_plan *plan, double candidates) {
    if (plan->backend == TOPK_BACKEND_CPU) {
        return candidates * MERGE_US;
    }
    return topk_dist_is_placed(plan) ? GPU_PLACES_US + candidates * GPU_PLACE_US : candidates * GPU_MERGE_US;
}

/* Two collectives for values and indices, of lists of `count` candidates, which are then merged. Ranks of a
 * node share its way to other nodes; but if the root alone gets lists it has that for itself. */
static double deliver_us(const struct topk_dist_plan *plan, double count) {
    const double got = (double)plan->group->ranks * (double)plan->block_rows * count;
    const double bytes = got * candidate_bytes(plan);
    const double far = bytes * (1 - (double)plan->node_ranks_max / plan->group->ranks);
    const int others = plan->options.destination == TOPK_DIST_ROOT ? 0 : plan->node_ranks_max - 1;
    return 2 * collective_us(plan, bytes / 2) + others * far * between(plan)->byte_us + merge_us(plan, got);
}

/* One of the steps by nodes: `lists` lists of `slots` candidates come by two collectives, and are merged. */
static double step_us(const struct topk_dist_plan *plan, const struct way *way, int ranks, double lists,
                      double slots) {
    return 2 * way_us(way, ranks, lists * slots * candidate_bytes(plan) / 2) + merge_us(plan, lists * slots);
}

/* By nodes, as deliver_nodes.c does it. */
static double deliver_by_nodes_us(const struct topk_dist_plan *plan) {
    const double rows = (double)plan->problem.rows;
    const double us = step_us(plan, within(plan), plan->node_ranks_max, plan->node_ranks_max,
                              rows * (double)plan->list_max) +
                      step_us(plan, between(plan), plan->node_count, plan->node_count,
                              (double)plan->node_rows * (double)plan->node_max);
    return plan->options.destination == TOPK_DIST_ROOT
               ? us
               : us + step_us(plan, within(plan), plan->node_ranks_max, 1,
                              (double)plan->block_rows * (double)plan->winners_max);
}

static topk_status core_us(const struct topk_dist_plan *plan, topk_operation operation, int64_t k_max,
                           double *us) {
    topk_problem problem = plan->problem;
    topk_plan_properties properties = TOPK_PLAN_PROPERTIES_INIT;
    topk_plan *own;
    problem.k_max = k_max;
    problem.index_base = 0;
    if (operation != plan->operation) { /* a method is of that alone */
        problem.method = problem.tuning = NULL;
        problem.workspace_limit = 0;
    }
    topk_status status = topk_plan_create(plan->context, operation, &problem, NULL, &own);
    if (status == TOPK_OK) {
        status = topk_plan_query(own, &properties);
        topk_plan_destroy(own);
    }
    *us = properties.predicted_us;
    return topk_dist_of_core(status);
}

/* All elements come to a GPU, `passes` times. */
static double load_us(const struct topk_dist_plan *plan, int passes) {
    const bool loads = plan->on_device && topk_dist_loads(plan);
    const double elements = (double)plan->problem.rows * (double)plan->longest;
    return loads ? passes * elements * (double)topk_type_size(plan->problem.type) * LOAD_US : 0;
}

static topk_status predict_gather(const struct topk_dist_plan *plan, double *us, double *by_nodes_us) {
    double own_us;
    const topk_status status = core_us(plan, plan->operation, plan->list_max, &own_us);
    own_us += collective_us(plan, 8) + load_us(plan, 1);
    *us = own_us + deliver_us(plan, (double)plan->list_max);
    *by_nodes_us = topk_dist_nodes_fit(plan) ? own_us + deliver_by_nodes_us(plan) : NEVER_US;
    return status;
}

/* The rounds of a histogram and their counters: none where the core refuses them. */
static topk_sharded_properties rounds_of(const struct topk_dist_plan *plan) {
    topk_sharded_properties properties = TOPK_SHARDED_PROPERTIES_INIT;
    topk_problem problem = plan->problem;
    problem.method = problem.tuning = NULL;
    (void)topk_sharded_query(plan->context, &problem, &properties);
    return properties;
}

/* A GPU is taken to count as long as it searches for the k-th by itself. */
static topk_status count_us(const struct topk_dist_plan *plan, int rounds, double *us) {
    if (plan->backend != TOPK_BACKEND_CPU) {
        return core_us(plan, TOPK_OPERATION_KTH, plan->problem.k_max, us);
    }
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    const topk_status status = topk_dist_of_core(topk_context_query(plan->context, &properties));
    const int reads = topk_dist_is_streamed(plan) ? rounds : 1;
    const double elements = reads * (double)plan->problem.rows * (double)plan->longest;
    *us = elements * COUNT_US / (properties.threads > 0 ? properties.threads : 1);
    return status;
}

/* Each rank has its part of the results. */
static topk_status predict_histogram(const struct topk_dist_plan *plan, double *us) {
    const int64_t part = plan->list_max / plan->group->ranks + (plan->list_max % plan->group->ranks != 0);
    const topk_sharded_properties of = rounds_of(plan);
    double list_us = 0, place_us = 0, counted_us = 0;
    topk_status status = count_us(plan, of.rounds, &counted_us);
    if (status == TOPK_OK && topk_dist_selects_lists(plan)) {
        status = core_us(plan, plan->operation, part, &list_us);
    }
    if (status == TOPK_OK && topk_dist_is_placed(plan)) { /* as long as another compaction */
        status = core_us(plan, TOPK_OPERATION_WHERE, plan->pitch, &place_us);
    }
    *us = counted_us + list_us + place_us +
          of.rounds * collective_us(plan, (double)of.counters * sizeof(int64_t)) +
          4 * collective_us(plan, 8) + load_us(plan, of.rounds + 1);
    if (plan->options.destination != TOPK_DIST_IN_PLACE) {
        *us += deliver_us(plan, (double)part);
    }
    return status;
}

/* On a device lists are sent whole, so that a histogram pays only where none are. Nodes are none if all ranks
 * are one, or each is one. */
static bool may_take(const struct topk_dist_plan *plan, topk_dist_strategy strategy) {
    if (plan->options.strategy != TOPK_DIST_AUTO) {
        return plan->options.strategy == strategy;
    }
    switch (strategy) {
    case TOPK_DIST_HISTOGRAM:
        return !plan->on_device || (topk_dist_is_placed(plan) && !topk_dist_may_tie(plan));
    case TOPK_DIST_GATHER_NODES:
        return topk_dist_has_nodes(plan) && plan->node_count > 1 && plan->node_ranks_max > 1;
    default:
        return strategy == TOPK_DIST_GATHER;
    }
}

topk_status topk_dist_choose(struct topk_dist_plan *plan) {
    double us[STRATEGIES] = {0};
    int64_t told[STRATEGIES];
    topk_status status = TOPK_OK;
    if (plan->options.strategy != TOPK_DIST_HISTOGRAM) {
        status = predict_gather(plan, &us[TOPK_DIST_GATHER], &us[TOPK_DIST_GATHER_NODES]);
    }
    const bool once = plan->options.origin == TOPK_DIST_READ_ONCE;
    if (status == TOPK_OK && may_take(plan, TOPK_DIST_HISTOGRAM)) {
        status = predict_histogram(plan, &us[TOPK_DIST_HISTOGRAM]);
        us[TOPK_DIST_HISTOGRAM] = once ? NEVER_US : us[TOPK_DIST_HISTOGRAM];
    }
    status = topk_dist_agree(plan->group, status);
    for (int s = 0; s < STRATEGIES; s++) {
        told[s] = us[s] < 9e15 ? (int64_t)(us[s] * TOLD_PER_US) : INT64_MAX;
    }
    status = status == TOPK_OK ? topk_dist_most(plan->group, told, STRATEGIES) : status;
    int best = TOPK_DIST_AUTO; /* none yet */
    for (int s = TOPK_DIST_GATHER; s < STRATEGIES; s++) {
        if (may_take(plan, (topk_dist_strategy)s) && (best == TOPK_DIST_AUTO || told[s] < told[best])) {
            best = s;
        }
    }
    plan->strategy = (topk_dist_strategy)best;
    plan->predicted_us = (double)told[best] / TOLD_PER_US;
    return status;
}
