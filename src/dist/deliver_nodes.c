/* SPDX-License-Identifier: Apache-2.0
 *
 * How lists meet by nodes, and become the results of the ranks that get them. Each arrow is two collectives:
 * of values and of indices.
 *
 *   ranks of a node -> leader      merged to the node's list: k best of each row
 *   leader <-> leader              all lists to all; to the root; or to each node the rows of its owners
 *                                  merged to the results (the root: to its outputs, and that is all)
 *   leader -> ranks of its node    all rows, or each owner's; in place only their positions
 *
 * On a device all of it is enqueued; lists are whole there, so nothing is packed. In place candidates have
 * marks there: a leader marks its node's by the places of their ranks, and the others by 0.
 *
 * No step finds an error of the caller's: merges are between arrays of the workspace. If one fails all the
 * same the leader goes on, since the others wait for it, with rows that are invalid. */
#include "error.h"
#include "move.h"
#include "nodes.h"
#include "topk_merge.h"
#include "topk_transfer.h"

/* Lists that lie one behind the other. */
struct lists {
    const void *values, *indices;
    int64_t count;
    const void *lengths, *k; /* or NULL */
    const void *marks;       /* a byte of each candidate, or NULL */
};

static size_t index_bytes(const struct topk_dist_plan *p) {
    return topk_dist_integer_bytes(p->problem.index_type);
}

static topk_status copied(const struct run *r, void *to, const void *from, size_t bytes) {
    return topk_dist_has_failed(r)
               ? TOPK_OK
               : topk_dist_kept(r,
                                topk_dist_of_core(topk_copy(r->plan->context, to, from, bytes, r->stream)));
}

static topk_status merge(const struct run *r, const topk_plan *plan, const struct lists *from, void *values,
                         void *indices, void *marks) {
    const struct topk_dist_plan *p = r->plan;
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    topk_lists lists = TOPK_LISTS_INIT;
    lists.lists = from->count;
    lists.sorted =
        topk_dist_list_order(p) == TOPK_ORDER_BEST_FIRST ? TOPK_SORTED_BEST_FIRST : TOPK_SORTED_NOT;
    lists.payload = from->marks;
    lists.payload_bytes = from->marks != NULL;
    input.values = from->values;
    input.indices = from->indices;
    input.lists = &lists;
    input.lengths = from->lengths;
    input.k = from->k;
    output.values = values;
    output.indices = indices;
    output.payload = marks;
    return topk_dist_has_failed(r)
               ? TOPK_OK
               : topk_dist_kept(r, topk_dist_of_core(topk_plan_run(plan, &input, &output, r->b.core,
                                                                   p->core_bytes, r->stream)));
}

/* Of rows that could not be merged: indices that make them invalid wherever they are merged. */
static topk_status or_invalid(const struct run *r, topk_status status, void *indices, int64_t slots) {
    if (status != TOPK_OK) {
        (void)topk_fill(r->plan->context, indices, 0xfe, (size_t)slots * index_bytes(r->plan), r->stream);
    }
    return status;
}

/* ---- Within a node: to the leader ---- */

static topk_status to_leader(const struct run *r, void *list, void *got, int64_t count, size_t bytes) {
    const struct topk_dist_plan *p = r->plan;
    const int64_t rows = p->problem.rows;
    topk_dist_pack(list, rows, p->list_max, count, bytes);
    return topk_dist_move_to_root(r, p->nodes->within, 0, list, (size_t)(rows * count) * bytes, got);
}

static void spread(const struct run *r, void *list, void *got, int64_t count, size_t bytes) {
    const struct topk_dist_plan *p = r->plan;
    const int64_t rows = p->problem.rows;
    if (topk_dist_leads(p)) {
        topk_dist_spread(got, p->nodes->within->ranks * rows, p->list_max, count, bytes);
    }
    if (topk_dist_is_placed(p)) { /* results are taken from the lists later */
        topk_dist_spread(list, rows, p->list_max, count, bytes);
    }
}

static topk_status send_to_leader(const struct run *r, int64_t count) {
    const struct topk_dist_plan *p = r->plan;
    const size_t value = topk_type_size(p->problem.type), index = index_bytes(p);
    topk_status status = topk_dist_move_begin(p->nodes->within);
    status = status == TOPK_OK ? to_leader(r, r->b.values, r->b.got_values, count, value) : status;
    status = status == TOPK_OK ? to_leader(r, r->b.indices, r->b.got_indices, count, index) : status;
    status = status == TOPK_OK ? topk_dist_move_end(r, p->nodes->within) : status;
    if (status == TOPK_OK) {
        spread(r, r->b.values, r->b.got_values, count, value);
        spread(r, r->b.indices, r->b.got_indices, count, index);
    }
    return status;
}

/* Copies k of each row: the core then sees no array of the caller's. */
static topk_status read_k(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    return r->input.k == NULL
               ? TOPK_OK
               : copied(r, r->b.node_ks, r->input.k,
                        (size_t)p->problem.rows * topk_dist_integer_bytes(p->problem.extent_type));
}

static const void *k_of(const struct run *r) {
    return r->input.k != NULL ? r->b.node_ks : NULL;
}

static topk_status filled(const struct run *r, void *to, int byte, size_t bytes) {
    return topk_dist_has_failed(r)
               ? TOPK_OK
               : topk_dist_kept(r,
                                topk_dist_of_core(topk_fill(r->plan->context, to, byte, bytes, r->stream)));
}

/* The lists of the node's ranks. */
static topk_status mark_places(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const size_t list = (size_t)(p->problem.rows * p->list_max);
    topk_status status = TOPK_OK;
    for (int place = 0; place < p->nodes->within->ranks && r->b.marks != NULL && status == TOPK_OK; place++) {
        status = filled(r, (char *)r->b.marks + (size_t)place * list, place + 1, list);
    }
    return status;
}

/* Leaves the node's list on its leader. *merged: whether that could merge it. */
static topk_status meet_in_node(const struct run *r, int64_t count, topk_status *merged) {
    const struct topk_dist_plan *p = r->plan;
    const topk_status status = send_to_leader(r, count);
    if (status != TOPK_OK || !topk_dist_leads(p)) {
        return status;
    }
    const int64_t ranks = p->nodes->within->ranks;
    for (int64_t list = 0; list < ranks * p->problem.rows && count < p->list_max; list++) {
        topk_dist_write_integer(p->problem.extent_type, r->b.lengths, list, count);
    }
    const struct lists lists = {.values = r->b.got_values,
                                .indices = r->b.got_indices,
                                .count = ranks,
                                .lengths = count < p->list_max ? r->b.lengths : NULL,
                                .k = k_of(r),
                                .marks = r->b.marks};
    *merged = read_k(r);
    *merged = *merged == TOPK_OK ? mark_places(r) : *merged;
    *merged = *merged == TOPK_OK
                  ? merge(r, p->node_merge, &lists, r->b.node_values, r->b.node_indices, r->b.node_marks)
                  : *merged;
    *merged = or_invalid(r, *merged, r->b.node_indices, p->problem.rows * p->node_max);
    return TOPK_OK;
}

/* ---- Between nodes: leaders alone ---- */

/* Whether the values of results are needed: in place the CPU finds its own by position. */
static bool has_values(const struct topk_dist_plan *p) {
    return !topk_dist_is_placed(p) || topk_dist_marks_places(p);
}

/* The rows of each owner, node after node. */
static topk_status sort_by_owner(const struct run *r, const void *list, void *sorted, size_t bytes) {
    const struct topk_dist_plan *p = r->plan;
    const size_t block = (size_t)(p->block_rows * p->node_max) * bytes;
    topk_status status = TOPK_OK;
    for (int rank = 0; rank < p->group->ranks && status == TOPK_OK; rank++) {
        const int64_t to = p->node_of[rank] * p->node_ranks_max + p->place_of[rank];
        status =
            copied(r, (char *)sorted + (size_t)to * block, (const char *)list + (size_t)rank * block, block);
    }
    return status;
}

/* Behind the last row, and in a node with fewer ranks than another one, there are rows of nobody: lists of
 * padding, since merging takes lists to be in order. */
static topk_status sort_lists_by_owner(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const int64_t all = p->group->ranks * p->block_rows, sorted = p->node_count * p->node_rows;
    const size_t row = (size_t)p->node_max * index_bytes(p);
    topk_status status = filled(r, (char *)r->b.node_indices + (size_t)p->problem.rows * row, 0xff,
                                (size_t)(all - p->problem.rows) * row);
    if (status == TOPK_OK && sorted > all) {
        status = filled(r, r->b.owned_indices, 0xff, (size_t)sorted * row);
    }
    if (status == TOPK_OK) {
        status = sort_by_owner(r, r->b.node_values, r->b.owned_values, topk_type_size(p->problem.type));
    }
    return status == TOPK_OK ? sort_by_owner(r, r->b.node_indices, r->b.owned_indices, index_bytes(p))
                             : status;
}

static topk_status to_leaders(const struct run *r, const void *list, const void *sorted, void *met,
                              size_t bytes) {
    const struct topk_dist_plan *p = r->plan;
    topk_dist_group *const between = p->nodes->between;
    const size_t block = (size_t)(p->node_rows * p->node_max) * bytes;
    switch (p->options.destination) {
    case TOPK_DIST_ROOT:
        return topk_dist_move_to_root(r, between, (int)p->node_of[p->options.root], list, block, met);
    case TOPK_DIST_OWNER:
        return topk_dist_move_to_each(r, between, sorted, block, met);
    default:
        return topk_dist_move_to_all(r, between, list, block, met);
    }
}

static topk_status send_to_leaders(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    topk_status status = topk_dist_move_begin(p->nodes->between);
    if (status == TOPK_OK) {
        status = to_leaders(r, r->b.node_values, r->b.owned_values, r->b.met_values,
                            topk_type_size(p->problem.type));
    }
    if (status == TOPK_OK) {
        status = to_leaders(r, r->b.node_indices, r->b.owned_indices, r->b.met_indices, index_bytes(p));
    }
    return status == TOPK_OK ? topk_dist_move_end(r, p->nodes->between) : status;
}

/* The lists of all nodes. */
static topk_status mark_node(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const size_t list = (size_t)(p->node_rows * p->node_max);
    const size_t own = (size_t)p->node_of[p->group->rank] * list;
    if (r->b.met_marks == NULL) {
        return TOPK_OK;
    }
    const topk_status status = filled(r, r->b.met_marks, 0, (size_t)p->node_count * list);
    return status == TOPK_OK ? copied(r, (char *)r->b.met_marks + own, r->b.node_marks, list) : status;
}

/* Leaves the results of the node's rows on its leader; but for the root, which merges them later. By owner
 * each rank looks at k. */
static topk_status meet_between(const struct run *r, topk_status *merged) {
    const struct topk_dist_plan *p = r->plan;
    const bool is_owner = p->options.destination == TOPK_DIST_OWNER;
    if (is_owner) {
        const topk_status sorted = or_invalid(r, sort_lists_by_owner(r), r->b.owned_indices,
                                              p->node_count * p->node_rows * p->node_max);
        *merged = *merged == TOPK_OK ? sorted : *merged;
    }
    const topk_status status = send_to_leaders(r);
    if (status != TOPK_OK || p->nodes_merge == NULL) {
        return status;
    }
    const struct lists lists = {r->b.met_values,           r->b.met_indices, p->node_count, NULL,
                                is_owner ? NULL : k_of(r), r->b.met_marks};
    topk_status now = mark_node(r);
    now = now == TOPK_OK ? merge(r, p->nodes_merge, &lists, has_values(p) ? r->b.won_values : NULL,
                                 r->b.winners, r->b.won_marks)
                         : now;
    const topk_status then = or_invalid(r, now, r->b.winners, p->node_rows * p->winners_max);
    *merged = *merged == TOPK_OK ? then : *merged;
    return TOPK_OK;
}

/* ---- Results to the ranks of a node ---- */

static topk_status hand_out(const struct run *r, void *results, size_t bytes) {
    const struct topk_dist_plan *p = r->plan;
    const size_t block = (size_t)(p->block_rows * p->winners_max) * bytes;
    return p->options.destination == TOPK_DIST_OWNER
               ? topk_dist_move_deal(r, p->nodes->within, 0, results, block, results)
               : topk_dist_move_from_root(r, p->nodes->within, 0, results, block);
}

static topk_status hand_out_results(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    topk_status status = topk_dist_move_begin(p->nodes->within);
    if (status == TOPK_OK && has_values(p)) {
        status = hand_out(r, r->b.won_values, topk_type_size(p->problem.type));
    }
    status = status == TOPK_OK ? hand_out(r, r->b.winners, index_bytes(p)) : status;
    if (status == TOPK_OK && topk_dist_marks_places(p)) {
        status = hand_out(r, r->b.won_marks, 1);
    }
    return status == TOPK_OK ? topk_dist_move_end(r, p->nodes->within) : status;
}

/* The rank's rows, into its outputs. */
static topk_status write_results(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const bool is_root = p->options.destination == TOPK_DIST_ROOT;
    struct lists lists = {r->b.won_values, r->b.winners, 1, NULL, NULL, NULL};
    if (p->got_rows == 0) {
        return TOPK_OK;
    }
    if (is_root) {
        lists = (struct lists){r->b.met_values, r->b.met_indices, p->node_count, NULL, NULL, NULL};
    }
    if (r->input.k != NULL) {
        lists.k =
            (const char *)r->input.k + (size_t)p->first_row * topk_dist_integer_bytes(p->problem.extent_type);
    }
    return merge(r, p->merge, &lists, r->output.values, r->output.indices, NULL);
}

topk_status topk_dist_deliver_by_nodes(const struct run *r, int64_t count) {
    const struct topk_dist_plan *p = r->plan;
    topk_status merged = TOPK_OK;
    topk_status status = meet_in_node(r, count, &merged);
    if (status == TOPK_OK && topk_dist_leads(p)) {
        status = meet_between(r, &merged);
    }
    if (status == TOPK_OK && p->options.destination != TOPK_DIST_ROOT) {
        status = hand_out_results(r);
    }
    status = status == TOPK_OK ? merged : status;
    return status == TOPK_OK && !topk_dist_is_placed(p) ? write_results(r) : status;
}
