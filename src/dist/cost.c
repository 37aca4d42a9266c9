/* SPDX-License-Identifier: Apache-2.0
 *
 * A strategy takes as long as its slowest rank: what the core predicts for the rank's own elements, and what
 * is sent and merged. The constants are what two ranks of Open MPI 4.1 took on two cores of an EPYC, in
 * shared memory (topk-bench-dist). */
#include "cost.h"

#include "error.h"
#include "topk_advanced.h"

static const double LATENCY_US = 5;       /* of a collective, for each doubling of the ranks */
static const double BYTE_US = 1.0 / 1500; /* of a byte that a rank gets */
static const double MERGE_US = 0.013;     /* of a candidate */
static const double COUNT_US = 0.0024;    /* of an element that a thread counts, in all rounds */

static const double NEVER_US = 1e15; /* what a rank cannot do */

enum { TOLD_PER_US = 1000 };

/* By bytes of an element, as topk_sharded.h says. */
static int rounds_of(size_t bytes) {
    return bytes == 1 ? 1 : bytes == 2 ? 2 : bytes == 4 ? 3 : 6;
}

static double collective_us(const struct topk_dist_plan *plan, double bytes) {
    double steps = 0;
    for (int reached = 1; reached < plan->group->ranks; reached *= 2) {
        steps++;
    }
    return steps * LATENCY_US + bytes * BYTE_US;
}

/* Two collectives for values and indices, of lists of `count` candidates, which are then merged. */
static double deliver_us(const struct topk_dist_plan *plan, double count) {
    const size_t bytes =
        topk_type_size(plan->problem.type) + topk_dist_integer_bytes(plan->problem.index_type);
    const double got = (double)plan->group->ranks * (double)plan->block_rows * count;
    return 2 * collective_us(plan, got * (double)bytes / 2) + got * MERGE_US;
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

static topk_status predict_gather(const struct topk_dist_plan *plan, double *us) {
    const topk_status status = core_us(plan, plan->operation, plan->list_max, us);
    *us += collective_us(plan, 8) + deliver_us(plan, (double)plan->list_max);
    return status;
}

/* A GPU is taken to count as long as it searches for the k-th by itself. */
static topk_status count_us(const struct topk_dist_plan *plan, double *us) {
    if (plan->backend != TOPK_BACKEND_CPU) {
        return core_us(plan, TOPK_OPERATION_KTH, plan->problem.k_max, us);
    }
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    const topk_status status = topk_dist_of_core(topk_context_query(plan->context, &properties));
    const int reads = topk_dist_is_streamed(plan) ? rounds_of(topk_type_size(plan->problem.type)) : 1;
    const double elements = reads * (double)plan->problem.rows * (double)plan->longest;
    *us = elements * COUNT_US / (properties.threads > 0 ? properties.threads : 1);
    return status;
}

/* Each rank has its part of the results. */
static topk_status predict_histogram(const struct topk_dist_plan *plan, double *us) {
    const int64_t part = plan->list_max / plan->group->ranks + (plan->list_max % plan->group->ranks != 0);
    const size_t width = topk_type_size(plan->problem.type);
    const double counters = (double)plan->problem.rows * (width <= 2 ? 256 : 2048) * sizeof(int64_t);
    double select_us = 0, counted_us = 0;
    topk_status status = core_us(plan, plan->operation, part, &select_us);
    status = status == TOPK_OK ? count_us(plan, &counted_us) : status;
    *us = counted_us + select_us + rounds_of(width) * collective_us(plan, counters) +
          4 * collective_us(plan, 8);
    if (plan->options.destination != TOPK_DIST_IN_PLACE) {
        *us += deliver_us(plan, (double)part);
    }
    return status;
}

/* On a device lists are sent whole, so that a histogram pays only where none are. */
static bool may_count(const struct topk_dist_plan *plan) {
    return plan->options.strategy == TOPK_DIST_HISTOGRAM ||
           (plan->options.strategy == TOPK_DIST_AUTO &&
            (!plan->on_device || (topk_dist_is_placed(plan) && !topk_dist_may_tie(plan))));
}

topk_status topk_dist_choose(struct topk_dist_plan *plan) {
    double us[2] = {0, 0};
    int64_t told[2];
    const topk_dist_strategy wanted = plan->options.strategy;
    topk_status status = TOPK_OK;
    if (wanted != TOPK_DIST_HISTOGRAM) {
        status = predict_gather(plan, &us[0]);
    }
    const bool once = plan->options.origin == TOPK_DIST_READ_ONCE;
    if (status == TOPK_OK && may_count(plan)) {
        status = predict_histogram(plan, &us[1]);
        us[1] = once ? NEVER_US : us[1];
    }
    status = topk_dist_agree(plan->group, status);
    for (int s = 0; s < 2; s++) {
        told[s] = us[s] < 9e15 ? (int64_t)(us[s] * TOLD_PER_US) : INT64_MAX;
    }
    status = status == TOPK_OK ? topk_dist_most(plan->group, told, 2) : status;
    const bool counts = may_count(plan) && (wanted == TOPK_DIST_HISTOGRAM || told[1] < told[0]);
    plan->strategy = counts ? TOPK_DIST_HISTOGRAM : TOPK_DIST_GATHER;
    plan->predicted_us = (double)told[counts] / TOLD_PER_US;
    return status;
}
