/* SPDX-License-Identifier: Apache-2.0
 *
 * How lists meet by nodes, and become the results of the ranks that get them. Each arrow is two collectives:
 * of values and of indices.
 *
 *   ranks of a node -> leader      merged to the node's list: k best of each row
 *   leader <-> leader              all lists to all; to the root; or to each node the rows of its owners
 *                                  merged to the results (the root: to its outputs, and that is all)
 *   leader -> ranks of its node    all rows, or those of each owner; in place only their positions
 *
 * No step finds an error of the caller's: merges are between arrays of the workspace. If one fails all the
 * same the leader goes on, since the others wait for it, with rows that are invalid. */
#include <string.h>

#include "error.h"
#include "nodes.h"
#include "run.h"
#include "topk_merge.h"

/* Of a candidate: the bytes of its value, and of its index. */
struct widths {
    size_t value, index;
};

static struct widths widths_of(const struct topk_dist_plan *p) {
    return (struct widths){topk_type_size(p->problem.type), topk_dist_integer_bytes(p->problem.index_type)};
}

/* Lists that lie one behind the other. */
struct lists {
    const void *values, *indices;
    int64_t count;
    const void *lengths, *k; /* or NULL */
};

static topk_status merge(const struct run *r, const topk_plan *plan, const struct lists *from, void *values,
                         void *indices) {
    const struct topk_dist_plan *p = r->plan;
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    topk_lists lists = TOPK_LISTS_INIT;
    lists.lists = from->count;
    lists.sorted =
        topk_dist_list_order(p) == TOPK_ORDER_BEST_FIRST ? TOPK_SORTED_BEST_FIRST : TOPK_SORTED_NOT;
    input.values = from->values;
    input.indices = from->indices;
    input.lists = &lists;
    input.lengths = from->lengths;
    input.k = from->k;
    output.values = values;
    output.indices = indices;
    return topk_dist_of_core(topk_plan_run(plan, &input, &output, r->b.core, p->core_bytes, NULL));
}

/* Of rows that could not be merged: indices that make them invalid wherever they are merged. */
static topk_status or_invalid(const struct topk_dist_plan *p, topk_status status, void *indices,
                              int64_t slots) {
    if (status != TOPK_OK) {
        memset(indices, 0xfe, (size_t)slots * widths_of(p).index);
    }
    return status;
}

/* ---- Within a node: to the leader ---- */

static topk_status to_leader(const struct run *r, void *list, void *got, int64_t count, size_t bytes) {
    const struct topk_dist_plan *p = r->plan;
    topk_dist_group *const within = p->nodes->within;
    const int64_t rows = p->problem.rows;
    topk_dist_pack(list, rows, p->list_max, count, bytes);
    const topk_status status = topk_dist_to_root(within, 0, list, (size_t)(rows * count) * bytes, got);
    if (status == TOPK_OK && topk_dist_leads(p)) {
        topk_dist_spread(got, within->ranks * rows, p->list_max, count, bytes);
    }
    if (topk_dist_is_placed(p)) { /* results are taken from the lists later */
        topk_dist_spread(list, rows, p->list_max, count, bytes);
    }
    return status;
}

/* Copies k of each row: the core then sees no array of the caller's. */
static void read_k(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const topk_index_type type = p->problem.extent_type;
    for (int64_t row = 0; row < p->problem.rows; row++) {
        const int64_t k = r->input.k != NULL ? topk_dist_read_integer(type, r->input.k, row) : p->winners_max;
        topk_dist_write_integer(type, r->b.node_ks, row, k);
    }
}

/* Leaves the node's list on its leader. *merged: whether that could merge it. */
static topk_status meet_in_node(const struct run *r, int64_t count, topk_status *merged) {
    const struct topk_dist_plan *p = r->plan;
    const struct widths widths = widths_of(p);
    topk_status status = to_leader(r, r->b.values, r->b.got_values, count, widths.value);
    if (status == TOPK_OK) {
        status = to_leader(r, r->b.indices, r->b.got_indices, count, widths.index);
    }
    if (status != TOPK_OK || !topk_dist_leads(p)) {
        return status;
    }
    const int64_t ranks = p->nodes->within->ranks;
    for (int64_t list = 0; list < ranks * p->problem.rows && count < p->list_max; list++) {
        topk_dist_write_integer(p->problem.extent_type, r->b.lengths, list, count);
    }
    read_k(r);
    const struct lists lists = {r->b.got_values, r->b.got_indices, ranks,
                                count < p->list_max ? r->b.lengths : NULL, r->b.node_ks};
    *merged = merge(r, p->node_merge, &lists, r->b.node_values, r->b.node_indices);
    *merged = or_invalid(p, *merged, r->b.node_indices, p->problem.rows * p->node_max);
    return TOPK_OK;
}

/* ---- Between nodes: leaders alone ---- */

/* The rows of each owner, node after node. A node with fewer ranks than another one gets rows of nobody. */
static void sort_by_owner(const struct topk_dist_plan *p, const void *list, void *sorted, size_t bytes) {
    const size_t block = (size_t)(p->block_rows * p->node_max) * bytes;
    for (int rank = 0; rank < p->group->ranks && block > 0; rank++) {
        const int64_t to = p->node_of[rank] * p->node_ranks_max + p->place_of[rank];
        memcpy((char *)sorted + (size_t)to * block, (const char *)list + (size_t)rank * block, block);
    }
}

/* Likewise k of the rows that this node gets: 0 for rows of nobody. */
static void sort_k_by_owner(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const topk_index_type type = p->problem.extent_type;
    for (int64_t row = 0; row < p->node_rows; row++) {
        topk_dist_write_integer(type, r->b.owned_ks, row, 0);
    }
    for (int rank = 0; rank < p->group->ranks; rank++) {
        const int64_t first = rank * p->block_rows, to = p->place_of[rank] * p->block_rows;
        const bool is_here = p->node_of[rank] == p->node_of[p->group->rank];
        for (int64_t row = 0; is_here && row < p->block_rows && first + row < p->problem.rows; row++) {
            topk_dist_write_integer(type, r->b.owned_ks, to + row,
                                    topk_dist_read_integer(type, r->b.node_ks, first + row));
        }
    }
}

static topk_status to_leaders(const struct run *r, const void *list, void *sorted, void *met, size_t bytes) {
    const struct topk_dist_plan *p = r->plan;
    topk_dist_group *const between = p->nodes->between;
    const size_t block = (size_t)(p->node_rows * p->node_max) * bytes;
    switch (p->options.destination) {
    case TOPK_DIST_ROOT:
        return topk_dist_to_root(between, (int)p->node_of[p->options.root], list, block, met);
    case TOPK_DIST_OWNER:
        sort_by_owner(p, list, sorted, bytes);
        return topk_dist_to_each(between, sorted, block, met);
    default:
        return topk_dist_to_all(between, list, block, met);
    }
}

/* Leaves the results of the node's rows on its leader; but for the root, which merges them later. */
static topk_status meet_between(const struct run *r, topk_status *merged) {
    const struct topk_dist_plan *p = r->plan;
    const struct widths widths = widths_of(p);
    const bool is_owner = p->options.destination == TOPK_DIST_OWNER;
    topk_status status = to_leaders(r, r->b.node_values, r->b.owned_values, r->b.met_values, widths.value);
    if (status == TOPK_OK) {
        status = to_leaders(r, r->b.node_indices, r->b.owned_indices, r->b.met_indices, widths.index);
    }
    if (status != TOPK_OK || p->nodes_merge == NULL) {
        return status;
    }
    if (is_owner) {
        sort_k_by_owner(r);
    }
    const struct lists lists = {r->b.met_values, r->b.met_indices, p->node_count, NULL,
                                is_owner ? r->b.owned_ks : r->b.node_ks};
    const topk_status now =
        merge(r, p->nodes_merge, &lists, topk_dist_is_placed(p) ? NULL : r->b.won_values, r->b.winners);
    const topk_status then = or_invalid(p, now, r->b.winners, p->node_rows * p->winners_max);
    *merged = *merged == TOPK_OK ? then : *merged;
    return TOPK_OK;
}

/* ---- Results to the ranks of a node ---- */

static topk_status hand_out(const struct run *r, void *results, size_t bytes) {
    const struct topk_dist_plan *p = r->plan;
    const size_t block = (size_t)(p->block_rows * p->winners_max) * bytes;
    return p->options.destination == TOPK_DIST_OWNER
               ? topk_dist_deal(p->nodes->within, 0, results, block, results)
               : topk_dist_from_root(p->nodes->within, 0, results, block);
}

/* The rank's rows, into its outputs. */
static topk_status write_results(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const bool is_root = p->options.destination == TOPK_DIST_ROOT;
    struct lists lists = {r->b.won_values, r->b.winners, 1, NULL, NULL};
    if (p->got_rows == 0) {
        return TOPK_OK;
    }
    if (is_root) {
        lists = (struct lists){r->b.met_values, r->b.met_indices, p->node_count, NULL, NULL};
    }
    if (r->input.k != NULL) {
        lists.k =
            (const char *)r->input.k + (size_t)p->first_row * topk_dist_integer_bytes(p->problem.extent_type);
    }
    return merge(r, p->merge, &lists, r->output.values, r->output.indices);
}

topk_status topk_dist_deliver_by_nodes(const struct run *r, int64_t count) {
    const struct topk_dist_plan *p = r->plan;
    const bool is_root = p->options.destination == TOPK_DIST_ROOT, is_placed = topk_dist_is_placed(p);
    topk_status merged = TOPK_OK;
    topk_status status = meet_in_node(r, count, &merged);
    if (status == TOPK_OK && topk_dist_leads(p)) {
        status = meet_between(r, &merged);
    }
    if (status == TOPK_OK && !is_root && !is_placed) {
        status = hand_out(r, r->b.won_values, widths_of(p).value);
    }
    if (status == TOPK_OK && !is_root) {
        status = hand_out(r, r->b.winners, widths_of(p).index);
    }
    status = status == TOPK_OK ? merged : status;
    return status == TOPK_OK && !is_placed ? write_results(r) : status;
}
