/* SPDX-License-Identifier: Apache-2.0
 * Nodes: ranks that reach each other faster than they reach all others. In each one rank leads: place 0. */
#ifndef TOPK_SRC_DIST_NODES_H
#define TOPK_SRC_DIST_NODES_H

#include "plan.h"

/* The groups that a division into nodes needs. They belong to the whole group, which ends them: the end of a
 * plan is not collective. Plans with the same division share them. */
struct topk_dist_nodes {
    struct topk_dist_nodes *next;
    topk_dist_group *within;  /* the ranks of this rank's node, by their places */
    topk_dist_group *between; /* the leaders, by the numbers of their nodes; NULL on other ranks */
    int64_t numbers[];        /* plan->node_of, and behind it plan->place_of */
};

/* Fills plan->node_of and place_of from what each rank has told (agree.h), and counts. */
void topk_dist_number_nodes(struct topk_dist_plan *plan, const int64_t *told);

/* Collective: sets plan->nodes. OUT_OF_MEMORY is the same on all ranks. */
topk_status topk_dist_nodes_open(struct topk_dist_plan *plan);

#endif
