/* SPDX-License-Identifier: Apache-2.0 */
#include "agree.h"

#include <inttypes.h>

#include "error.h"

static const char *const names[AGREE_NUMBERS] = {
    [AGREE_BACKEND] = "backend of the context",
    [AGREE_VERSION] = "version of libtopk",
    [AGREE_OPERATION] = "operation",
    [AGREE_TYPE] = "problem->type",
    [AGREE_INDEX_TYPE] = "problem->index_type",
    [AGREE_DIRECTION] = "problem->direction",
    [AGREE_RANK] = "problem->rank",
    [AGREE_NAN] = "problem->nan",
    [AGREE_TIES] = "problem->ties",
    [AGREE_ORDER] = "problem->order",
    [AGREE_ROWS] = "problem->rows",
    [AGREE_K_MAX] = "problem->k_max",
    [AGREE_DESTINATION] = "options->destination",
    [AGREE_MAP] = "options->map",
    [AGREE_STRATEGY] = "options->strategy",
    [AGREE_ROOT] = "options->root",
    [AGREE_EXCHANGE] = "options->exchange_kth",
    [AGREE_BASE] = "problem->index_base",
};

static void tell(const struct topk_dist_plan *plan, int64_t *own) {
    const topk_problem *p = &plan->problem;
    own[AGREE_BACKEND] = plan->backend;
    own[AGREE_VERSION] = topk_version();
    own[AGREE_OPERATION] = plan->operation;
    own[AGREE_TYPE] = p->type;
    own[AGREE_INDEX_TYPE] = p->index_type;
    own[AGREE_DIRECTION] = p->direction;
    own[AGREE_RANK] = p->rank;
    own[AGREE_NAN] = p->nan;
    own[AGREE_TIES] = p->ties;
    own[AGREE_ORDER] = p->order;
    own[AGREE_ROWS] = p->rows;
    own[AGREE_K_MAX] = p->k_max;
    own[AGREE_DESTINATION] = plan->options.destination;
    own[AGREE_MAP] = plan->options.map;
    own[AGREE_STRATEGY] = plan->options.strategy;
    own[AGREE_ROOT] = plan->options.root;
    own[AGREE_EXCHANGE] = plan->options.exchange_kth;
    own[AGREE_BASE] = p->index_base;
    own[AGREE_NODE] = plan->options.node > 0 ? plan->options.node : -plan->group->node;
    own[AGREE_LONGEST] = plan->longest;
    own[AGREE_READS] = topk_dist_reads(plan);
}

static topk_status compare_numbers(const struct topk_dist_plan *plan, const int64_t *told) {
    const int compared = plan->options.map == TOPK_DIST_STRIDE ? AGREE_BASE : AGREE_EXCHANGE;
    for (int rank = 1; rank < plan->group->ranks; rank++) {
        for (int n = 0; n <= compared; n++) {
            const int64_t number = told[rank * AGREE_NUMBERS + n];
            if (number != told[n]) {
                return topk_dist_fail(TOPK_ERROR_CONTRADICTION,
                                      "rank %d: %s is %" PRId64 ", but %" PRId64 " on rank 0", rank, names[n],
                                      number, told[n]);
            }
        }
    }
    return TOPK_OK;
}

static topk_status compare_nodes(const struct topk_dist_plan *plan, const int64_t *told) {
    for (int rank = 1; rank < plan->group->ranks; rank++) {
        const int64_t node = told[rank * AGREE_NUMBERS + AGREE_NODE];
        if ((node > 0) != (told[AGREE_NODE] > 0)) {
            return topk_dist_fail(TOPK_ERROR_CONTRADICTION,
                                  "rank %d: options->node is %" PRId64 ", but %" PRId64
                                  " on rank 0: it is 0 on all ranks or on none",
                                  rank, node > 0 ? node : 0, told[AGREE_NODE] > 0 ? told[AGREE_NODE] : 0);
        }
    }
    return TOPK_OK;
}

static topk_status compare_runs(const struct topk_dist_plan *plan, const int64_t *told) {
    for (int rank = 0; rank < plan->group->ranks; rank++) {
        for (int other = 0; other < plan->group->ranks; other++) {
            const int64_t *const a = told + rank * AGREE_NUMBERS, *const b = told + other * AGREE_NUMBERS;
            const bool begins_within =
                a[AGREE_BASE] >= b[AGREE_BASE] && a[AGREE_BASE] - b[AGREE_BASE] < b[AGREE_LONGEST];
            if (rank != other && a[AGREE_LONGEST] > 0 && begins_within) {
                return topk_dist_fail(TOPK_ERROR_CONTRADICTION,
                                      "rank %d: its positions begin at problem->index_base = %" PRId64
                                      ", within the run of rank %d, [%" PRId64 ", %" PRId64 " + %" PRId64 ")",
                                      rank, a[AGREE_BASE], other, b[AGREE_BASE], b[AGREE_BASE],
                                      b[AGREE_LONGEST]);
            }
        }
    }
    return TOPK_OK;
}

topk_status topk_dist_compare(const struct topk_dist_plan *plan, int64_t *told) {
    int64_t own[AGREE_NUMBERS];
    tell(plan, own);
    topk_status status = topk_dist_to_all(plan->group, own, sizeof own, told);
    status = status == TOPK_OK ? compare_numbers(plan, told) : status;
    status = status == TOPK_OK ? compare_nodes(plan, told) : status;
    if (status == TOPK_OK && topk_dist_selects(plan) && plan->options.map == TOPK_DIST_BASE) {
        status = compare_runs(plan, told);
    }
    return status;
}
