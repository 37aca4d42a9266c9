/* SPDX-License-Identifier: Apache-2.0 */
#include "move.h"

#include "error.h"
#include "topk_merge.h"
#include "topk_transfer.h"

/* Copies between the device and plan->staging. */
static topk_status copied(const struct run *r, void *to, const void *from, size_t bytes) {
    return topk_dist_of_core(topk_copy(r->plan->context, to, from, bytes, r->stream));
}

static topk_status waited(const struct run *r) {
    return topk_dist_of_core(topk_wait(r->plan->context, r->stream));
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
    return status == TOPK_OK ? waited(r) : status;
}

static topk_status refuse_broken(void) {
    return topk_dist_fail(TOPK_ERROR_DEVICE, "the group is broken: ranks could not communicate before");
}

topk_status topk_dist_move_sum(const struct run *r, int64_t *numbers, int64_t count) {
    topk_dist_group *const group = r->plan->group;
    const size_t bytes = (size_t)count * sizeof *numbers;
    const void *seen;
    if (count == 0) {
        return TOPK_OK;
    }
    if (group->on_stream != NULL) {
        return group->broken
                   ? refuse_broken()
                   : topk_dist_on_stream(group, group->on_stream->sum(group->own, numbers, count, r->stream));
    }
    topk_status status = fetch(r, numbers, bytes, &seen);
    if (status == TOPK_OK) {
        status = topk_dist_sum(group, is_direct(r) ? numbers : r->plan->staging, count);
    }
    return status == TOPK_OK && !is_direct(r) ? copied(r, numbers, seen, bytes) : status;
}

/* Where a transport of the host puts what it gets: behind `sent` bytes of the staging. */
static void *landing(const struct run *r, size_t sent, void *blocks) {
    return is_direct(r) ? blocks : (char *)r->plan->staging + sent;
}

static topk_status landed(const struct run *r, topk_status status, void *blocks, size_t sent, size_t bytes) {
    return status == TOPK_OK && !is_direct(r) ? copied(r, blocks, landing(r, sent, blocks), bytes) : status;
}

topk_status topk_dist_move_begin(const struct run *r) {
    topk_dist_group *const group = r->plan->group;
    return group->on_stream != NULL && group->on_stream->begin != NULL && !group->broken
               ? topk_dist_on_stream(group, group->on_stream->begin(group->own))
               : TOPK_OK;
}

topk_status topk_dist_move_end(const struct run *r) {
    topk_dist_group *const group = r->plan->group;
    return group->on_stream != NULL && group->on_stream->end != NULL && !group->broken
               ? topk_dist_on_stream(group, group->on_stream->end(group->own, r->stream))
               : TOPK_OK;
}

topk_status topk_dist_move_to_all(const struct run *r, const void *block, size_t bytes, void *blocks) {
    topk_dist_group *const group = r->plan->group;
    const void *seen;
    if (bytes == 0) {
        return TOPK_OK;
    }
    if (group->on_stream != NULL) {
        return group->broken ? refuse_broken()
                             : topk_dist_on_stream(group, group->on_stream->to_all(group->own, block, bytes,
                                                                                   blocks, r->stream));
    }
    topk_status status = fetch(r, block, bytes, &seen);
    status = status == TOPK_OK ? topk_dist_to_all(group, seen, bytes, landing(r, bytes, blocks)) : status;
    return landed(r, status, blocks, bytes, bytes * (size_t)group->ranks);
}

topk_status topk_dist_move_to_root(const struct run *r, int root, const void *block, size_t bytes,
                                   void *blocks) {
    topk_dist_group *const group = r->plan->group;
    const void *seen;
    if (bytes == 0) {
        return TOPK_OK;
    }
    if (group->on_stream != NULL) {
        return group->broken
                   ? refuse_broken()
                   : topk_dist_on_stream(
                         group, group->on_stream->to_root(group->own, root, block, bytes, blocks, r->stream));
    }
    topk_status status = fetch(r, block, bytes, &seen);
    status =
        status == TOPK_OK ? topk_dist_to_root(group, root, seen, bytes, landing(r, bytes, blocks)) : status;
    return group->rank == root ? landed(r, status, blocks, bytes, bytes * (size_t)group->ranks) : status;
}

topk_status topk_dist_move_to_each(const struct run *r, const void *blocks, size_t bytes, void *received) {
    topk_dist_group *const group = r->plan->group;
    const size_t all = bytes * (size_t)group->ranks;
    const void *seen;
    if (bytes == 0) {
        return TOPK_OK;
    }
    if (group->on_stream != NULL) {
        return group->broken ? refuse_broken()
                             : topk_dist_on_stream(group, group->on_stream->to_each(group->own, blocks, bytes,
                                                                                    received, r->stream));
    }
    topk_status status = fetch(r, blocks, all, &seen);
    status = status == TOPK_OK ? topk_dist_to_each(group, seen, bytes, landing(r, all, received)) : status;
    return landed(r, status, received, all, all);
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
    return group->broken
               ? refuse_broken()
               : topk_dist_on_stream(group, group->merge(group->own, root, &p->merging, &lists, output,
                                                         r->b.core, p->core_bytes, r->stream));
}

/* rows x pitch x bytes of a list, sent and got: as blocks of all ranks, at most. */
static size_t blocks_bytes(const struct topk_dist_plan *p, int64_t rows, int64_t pitch, size_t bytes) {
    const size_t blocks = 2 * (size_t)p->group->ranks; /* to_each; the others have one and one of each rank */
    size_t all;
    return __builtin_mul_overflow((size_t)rows, (size_t)pitch, &all) ||
                   __builtin_mul_overflow(all, bytes * blocks, &all)
               ? SIZE_MAX
               : all;
}

size_t topk_dist_staging_bytes(const struct topk_dist_plan *p) {
    const size_t value = topk_type_size(p->problem.type),
                 index = topk_dist_integer_bytes(p->problem.index_type);
    size_t most = blocks_bytes(p, p->problem.rows, 1, sizeof(int64_t)), other = 0;
    if (topk_dist_has_lists(p)) {
        other = blocks_bytes(p, p->block_rows, p->list_max, value > index ? value : index);
        most = other > most ? other : most;
    }
    if (topk_dist_counts(p)) {
        other = blocks_bytes(p, p->counting.counters, 1, sizeof(int64_t)) / (2 * (size_t)p->group->ranks);
        most = other > most ? other : most;
    }
    return most;
}
