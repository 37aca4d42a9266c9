/* SPDX-License-Identifier: Apache-2.0 */
#include "move.h"

#include <string.h>

#include "error.h"
#include "nodes.h"
#include "topk_merge.h"
#include "topk_transfer.h"

/* Copies between the device and plan->staging. */
static topk_status copied(const struct run *r, void *to, const void *from, size_t bytes) {
    return topk_dist_has_failed(r)
               ? TOPK_OK
               : topk_dist_kept(r,
                                topk_dist_of_core(topk_copy(r->plan->context, to, from, bytes, r->stream)));
}

static topk_status waited(const struct run *r) {
    return topk_dist_has_failed(r)
               ? TOPK_OK
               : topk_dist_kept(r, topk_dist_of_core(topk_wait(r->plan->context, r->stream)));
}

/* The device's memory is the host's as well, for a transport of the host. */
static bool is_direct(const struct run *r) {
    return r->plan->staging == NULL;
}

/* `from` as a transport of the host may read it. */
static topk_status fetch(const struct run *r, const void *from, size_t bytes, const void **seen) {
    topk_status status = TOPK_OK;
    *seen = from;
    if (!is_direct(r)) {
        *seen = r->plan->staging;
        status = copied(r, r->plan->staging, from, bytes);
    }
    status = status == TOPK_OK ? waited(r) : status;
    if (topk_dist_has_failed(r) && !is_direct(r)) {
        memset(r->plan->staging, 0xfe, bytes);
    }
    return status;
}

/* ---- A transport that enqueues ---- */

static bool enqueues(const topk_dist_group *group) {
    return group->on_stream != NULL;
}

topk_status topk_dist_move_begin(topk_dist_group *group) {
    return enqueues(group) && group->on_stream->begin != NULL && topk_dist_intact(group) == TOPK_OK
               ? topk_dist_on_stream(group, group->on_stream->begin(group->own))
               : TOPK_OK;
}

topk_status topk_dist_move_end(const struct run *r, topk_dist_group *group) {
    return enqueues(group) && group->on_stream->end != NULL && topk_dist_intact(group) == TOPK_OK
               ? topk_dist_on_stream(group, group->on_stream->end(group->own, r->stream))
               : TOPK_OK;
}

/* ---- A transport of the host ---- */

/* Where it puts what it gets: behind `sent` bytes of the staging. */
static void *landing(const struct run *r, size_t sent, void *blocks) {
    return is_direct(r) ? blocks : (char *)r->plan->staging + sent;
}

static topk_status landed(const struct run *r, topk_status status, void *blocks, size_t sent, size_t bytes) {
    return status == TOPK_OK && !is_direct(r) ? copied(r, blocks, landing(r, sent, blocks), bytes) : status;
}

/* ---- Either ---- */

topk_status topk_dist_move_sum(const struct run *r, int64_t *numbers, int64_t count) {
    topk_dist_group *const group = r->plan->group;
    const size_t bytes = (size_t)count * sizeof *numbers;
    const void *seen;
    topk_status status = count > 0 ? topk_dist_intact(group) : TOPK_OK;
    if (status != TOPK_OK || count == 0) {
        return status;
    }
    if (enqueues(group)) {
        return topk_dist_on_stream(group, group->on_stream->sum(group->own, numbers, count, r->stream));
    }
    status = fetch(r, numbers, bytes, &seen);
    if (status == TOPK_OK) {
        status = topk_dist_sum(group, is_direct(r) ? numbers : r->plan->staging, count);
    }
    return status == TOPK_OK && !is_direct(r) ? copied(r, numbers, seen, bytes) : status;
}

topk_status topk_dist_move_to_all(const struct run *r, topk_dist_group *group, const void *block,
                                  size_t bytes, void *blocks) {
    const void *seen;
    topk_status status = bytes > 0 ? topk_dist_intact(group) : TOPK_OK;
    if (status != TOPK_OK || bytes == 0) {
        return status;
    }
    if (enqueues(group)) {
        return topk_dist_on_stream(group,
                                   group->on_stream->to_all(group->own, block, bytes, blocks, r->stream));
    }
    status = fetch(r, block, bytes, &seen);
    status = status == TOPK_OK ? topk_dist_to_all(group, seen, bytes, landing(r, bytes, blocks)) : status;
    return landed(r, status, blocks, bytes, bytes * (size_t)group->ranks);
}

topk_status topk_dist_move_to_root(const struct run *r, topk_dist_group *group, int root, const void *block,
                                   size_t bytes, void *blocks) {
    const void *seen;
    topk_status status = bytes > 0 ? topk_dist_intact(group) : TOPK_OK;
    if (status != TOPK_OK || bytes == 0) {
        return status;
    }
    if (enqueues(group)) {
        return topk_dist_on_stream(
            group, group->on_stream->to_root(group->own, root, block, bytes, blocks, r->stream));
    }
    status = fetch(r, block, bytes, &seen);
    status =
        status == TOPK_OK ? topk_dist_to_root(group, root, seen, bytes, landing(r, bytes, blocks)) : status;
    return group->rank == root ? landed(r, status, blocks, bytes, bytes * (size_t)group->ranks) : status;
}

topk_status topk_dist_move_to_each(const struct run *r, topk_dist_group *group, const void *blocks,
                                   size_t bytes, void *received) {
    const size_t all = bytes * (size_t)group->ranks;
    const void *seen;
    topk_status status = bytes > 0 ? topk_dist_intact(group) : TOPK_OK;
    if (status != TOPK_OK || bytes == 0) {
        return status;
    }
    if (enqueues(group)) {
        return topk_dist_on_stream(group,
                                   group->on_stream->to_each(group->own, blocks, bytes, received, r->stream));
    }
    status = fetch(r, blocks, all, &seen);
    status = status == TOPK_OK ? topk_dist_to_each(group, seen, bytes, landing(r, all, received)) : status;
    return landed(r, status, received, all, all);
}

topk_status topk_dist_move_from_root(const struct run *r, topk_dist_group *group, int root, void *block,
                                     size_t bytes) {
    const bool is_root = group->rank == root;
    const void *seen;
    topk_status status = bytes > 0 ? topk_dist_intact(group) : TOPK_OK;
    if (status != TOPK_OK || bytes == 0) {
        return status;
    }
    if (enqueues(group)) {
        return topk_dist_on_stream(group,
                                   group->on_stream->from_root(group->own, root, block, bytes, r->stream));
    }
    status = fetch(r, block, is_root ? bytes : 0, &seen);
    status = status == TOPK_OK ? topk_dist_from_root(group, root, landing(r, 0, block), bytes) : status;
    return is_root ? status : landed(r, status, block, 0, bytes);
}

topk_status topk_dist_move_deal(const struct run *r, topk_dist_group *group, int root, const void *blocks,
                                size_t bytes, void *block) {
    const bool is_root = group->rank == root;
    const void *seen;
    topk_status status = bytes > 0 ? topk_dist_intact(group) : TOPK_OK;
    if (status != TOPK_OK || bytes == 0) {
        return status;
    }
    if (enqueues(group)) {
        return topk_dist_on_stream(group,
                                   group->on_stream->deal(group->own, root, blocks, bytes, block, r->stream));
    }
    status = fetch(r, blocks, is_root ? bytes * (size_t)group->ranks : 0, &seen);
    status = status == TOPK_OK ? topk_dist_deal(group, root, seen, bytes, landing(r, 0, block)) : status;
    return is_root ? status : landed(r, status, block, 0, bytes);
}

topk_status topk_dist_move_and_merge(const struct run *r, const topk_output *output) {
    const struct topk_dist_plan *p = r->plan;
    topk_dist_group *const group = p->group;
    topk_peer_lists lists = TOPK_PEER_LISTS_INIT;
    const int root = p->options.destination == TOPK_DIST_ROOT    ? p->options.root
                     : p->options.destination == TOPK_DIST_OWNER ? TOPK_PEER_OWNER
                                                                 : TOPK_PEER_ALL;
    lists.values = r->b.values;
    lists.indices = r->b.indices;
    lists.all_values = r->b.got_values;
    lists.all_indices = r->b.got_indices;
    lists.k = r->input.k;
    lists.sorted =
        topk_dist_list_order(p) == TOPK_ORDER_BEST_FIRST ? TOPK_SORTED_BEST_FIRST : TOPK_SORTED_NOT;
    lists.follows =
        p->problem.length_max > 0; /* the kernels of the rank's own selection, if it has elements */
    const topk_status status = topk_dist_intact(group);
    return status == TOPK_OK
               ? topk_dist_on_stream(group, group->merge(group->own, root, &p->merging, &lists, output,
                                                         r->b.core, p->core_bytes, r->stream))
               : status;
}

/* blocks x rows x pitch x bytes: of lists, sent and got. */
static size_t blocks_bytes(int64_t blocks, int64_t rows, int64_t pitch, size_t bytes) {
    size_t all;
    return __builtin_mul_overflow((size_t)rows, (size_t)pitch, &all) ||
                   __builtin_mul_overflow(all, bytes * (size_t)blocks, &all)
               ? SIZE_MAX
               : all;
}

static size_t greater(size_t a, size_t b) {
    return a > b ? a : b;
}

/* By nodes: lists to the leader, between leaders, and results to the ranks of a node. */
static size_t node_staging_bytes(const struct topk_dist_plan *p, size_t width) {
    const bool leads = topk_dist_leads(p);
    const int64_t ranks = leads ? p->nodes->within->ranks : 0, nodes = leads ? p->node_count : 0;
    const size_t within = blocks_bytes(1 + ranks, p->problem.rows, p->list_max, width),
                 between = blocks_bytes(2 * nodes, p->node_rows, p->node_max, width);
    return greater(greater(within, between),
                   blocks_bytes(1, leads ? p->node_rows : p->block_rows, p->winners_max, width));
}

size_t topk_dist_staging_bytes(const struct topk_dist_plan *p) {
    const size_t value = topk_type_size(p->problem.type),
                 index = topk_dist_integer_bytes(p->problem.index_type);
    const int64_t sent_and_got = 2 * (int64_t)p->group->ranks; /* to_each; the others send one */
    size_t most = blocks_bytes(sent_and_got, p->problem.rows, 1, sizeof(int64_t));
    if (p->nodes != NULL) {
        most = greater(most, node_staging_bytes(p, greater(value, index)));
    } else if (topk_dist_has_lists(p)) {
        most = greater(most, blocks_bytes(sent_and_got, p->block_rows, p->list_max, greater(value, index)));
    }
    if (topk_dist_counts(p)) {
        most = greater(most, blocks_bytes(1, p->counting.counters, 1, sizeof(int64_t)));
    }
    return most;
}
