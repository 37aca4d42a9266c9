/* SPDX-License-Identifier: Apache-2.0 */
#include "nodes.h"

#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "error.h"

/* Nodes are numbered in the order of their first ranks. So are ranks in a node; but the root, which gets all
 * results, leads its own. */
void topk_dist_number_nodes(struct topk_dist_plan *plan, const int64_t *told) {
    const int ranks = plan->group->ranks, root = plan->options.root;
    plan->node_count = plan->node_ranks_max = 0;
    for (int rank = 0; rank < ranks; rank++) {
        const int64_t node = told[rank * AGREE_NUMBERS + AGREE_NODE];
        int64_t place = 0;
        for (int other = rank - 1; other >= 0; other--) { /* the latest one before, if there is any */
            if (place == 0 && told[other * AGREE_NUMBERS + AGREE_NODE] == node) {
                plan->node_of[rank] = plan->node_of[other];
                place = plan->place_of[other] + 1;
            }
        }
        plan->place_of[rank] = place;
        if (place == 0) {
            plan->node_of[rank] = plan->node_count++;
        }
        plan->node_ranks_max = place >= plan->node_ranks_max ? (int)place + 1 : plan->node_ranks_max;
    }
    if (plan->options.destination == TOPK_DIST_ROOT) {
        for (int rank = 0; rank < root; rank++) {
            plan->place_of[rank] += plan->node_of[rank] == plan->node_of[root];
        }
        plan->place_of[root] = 0;
    }
}

static void end(struct topk_dist_nodes *nodes) {
    topk_dist_group_destroy(nodes->between);
    topk_dist_group_destroy(nodes->within);
    free(nodes);
}

static int ranks_of(const struct topk_dist_plan *plan, int node) {
    int ranks = 0;
    for (int rank = 0; rank < plan->group->ranks; rank++) {
        ranks += plan->node_of[rank] == node;
    }
    return ranks;
}

topk_status topk_dist_nodes_open(struct topk_dist_plan *plan) {
    topk_dist_group *const group = plan->group;
    const size_t bytes = 2 * (size_t)group->ranks * sizeof(int64_t);
    for (struct topk_dist_nodes *nodes = group->nodes; nodes != NULL; nodes = nodes->next) {
        if (memcmp(nodes->numbers, plan->node_of, bytes) == 0) {
            plan->nodes = nodes;
            return TOPK_OK;
        }
    }
    struct topk_dist_nodes *const nodes = calloc(1, sizeof *nodes + bytes);
    topk_status status = topk_dist_agree(
        group,
        nodes != NULL ? TOPK_OK : topk_dist_fail(TOPK_ERROR_OUT_OF_MEMORY, "no memory for a plan's nodes"));
    if (status != TOPK_OK) {
        free(nodes);
        return status;
    }
    const int node = (int)plan->node_of[group->rank], place = (int)plan->place_of[group->rank];
    memcpy(nodes->numbers, plan->node_of, bytes);
    status = topk_dist_split(group, node, place, ranks_of(plan, node), &nodes->within);
    if (status == TOPK_OK) {
        status = topk_dist_split(group, place == 0 ? 0 : -1, node, plan->node_count, &nodes->between);
    }
    if (status != TOPK_OK) {
        end(nodes);
        return status;
    }
    nodes->next = group->nodes;
    group->nodes = plan->nodes = nodes;
    return TOPK_OK;
}

void topk_dist_group_destroy(topk_dist_group *group) {
    while (group != NULL && group->nodes != NULL) {
        struct topk_dist_nodes *const first = group->nodes;
        group->nodes = first->next;
        end(first);
    }
    if (group != NULL) {
        group->transport->close(group);
    }
}
