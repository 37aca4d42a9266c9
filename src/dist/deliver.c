/* SPDX-License-Identifier: Apache-2.0
 *
 * How lists meet, and become the results of the ranks that get them. */
#include <string.h>

#include "error.h"
#include "run.h"
#include "topk_merge.h"

void topk_dist_pack(void *list, int64_t rows, int64_t pitch, int64_t count, size_t bytes) {
    char *const at = list;
    for (int64_t row = 1; row < rows && count < pitch; row++) {
        memmove(at + (size_t)(row * count) * bytes, at + (size_t)(row * pitch) * bytes,
                (size_t)count * bytes);
    }
}

void topk_dist_spread(void *list, int64_t rows, int64_t pitch, int64_t count, size_t bytes) {
    char *const at = list;
    for (int64_t row = rows - 1; row > 0 && count < pitch; row--) {
        memmove(at + (size_t)(row * pitch) * bytes, at + (size_t)(row * count) * bytes,
                (size_t)count * bytes);
    }
}

static topk_status send(const struct run *r, void *list, void *got, int64_t count, size_t bytes) {
    const struct topk_dist_plan *p = r->plan;
    const size_t block = (size_t)(p->block_rows * count) * bytes;
    topk_status status;
    topk_dist_pack(list, p->problem.rows, p->list_max, count, bytes);
    switch (p->options.destination) {
    case TOPK_DIST_ROOT:
        status = topk_dist_to_root(p->group, p->options.root, list, block, got);
        break;
    case TOPK_DIST_OWNER:
        status = topk_dist_to_each(p->group, list, block, got);
        break;
    default:
        status = topk_dist_to_all(p->group, list, block, got);
        break;
    }
    if (status == TOPK_OK && p->got_rows > 0) {
        topk_dist_spread(got, p->group->ranks * p->block_rows, p->list_max, count, bytes);
    }
    return status;
}

static topk_status merge(const struct run *r, int64_t count, void *values, void *indices) {
    const struct topk_dist_plan *p = r->plan;
    const topk_index_type extents = p->problem.extent_type;
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    topk_lists lists = TOPK_LISTS_INIT;
    lists.lists = p->group->ranks;
    lists.list_stride = p->block_rows * p->list_max;
    lists.sorted =
        topk_dist_list_order(p) == TOPK_ORDER_BEST_FIRST ? TOPK_SORTED_BEST_FIRST : TOPK_SORTED_NOT;
    input.values = r->b.got_values;
    input.indices = r->b.got_indices;
    input.lists = &lists;
    if (r->input.k != NULL) {
        input.k = (const char *)r->input.k + (size_t)p->first_row * topk_dist_integer_bytes(extents);
    }
    if (count < p->list_max) {
        for (int64_t list = 0; list < p->group->ranks * p->got_rows; list++) {
            topk_dist_write_integer(extents, r->b.lengths, list, count);
        }
        input.lengths = r->b.lengths;
    }
    output.values = values;
    output.indices = indices;
    return topk_dist_of_core(topk_plan_run(p->merge, &input, &output, r->b.core, p->core_bytes, NULL));
}

topk_status topk_dist_deliver(const struct run *r, int64_t count) {
    const struct topk_dist_plan *p = r->plan;
    const bool is_placed = topk_dist_is_placed(p);
    topk_status status = TOPK_OK;
    if (p->list_max > 0) {
        status = send(r, r->b.values, r->b.got_values, count, topk_type_size(p->problem.type));
    }
    if (status == TOPK_OK && p->list_max > 0) {
        status =
            send(r, r->b.indices, r->b.got_indices, count, topk_dist_integer_bytes(p->problem.index_type));
    }
    if (status != TOPK_OK || p->got_rows == 0) {
        return status;
    }
    if (is_placed) { /* results are taken from the lists later */
        topk_dist_spread(r->b.values, p->problem.rows, p->list_max, count, topk_type_size(p->problem.type));
        topk_dist_spread(r->b.indices, p->problem.rows, p->list_max, count,
                         topk_dist_integer_bytes(p->problem.index_type));
    }
    return merge(r, count, is_placed ? NULL : r->output.values, is_placed ? r->b.winners : r->output.indices);
}

topk_status topk_dist_number_own(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const int64_t rows = p->problem.rows;
    const topk_status status =
        topk_dist_to_all(p->group, r->b.own_k, (size_t)rows * sizeof *r->b.own_k, r->b.all);
    for (int64_t row = 0; row < rows && status == TOPK_OK; row++) {
        int64_t before = 0;
        for (int rank = 0; rank < p->group->rank; rank++) {
            before += r->b.all[rank * rows + row];
        }
        if (r->output.before != NULL) {
            r->output.before[row] = before;
        }
        if (r->output.own_k != NULL) {
            r->output.own_k[row] = r->b.own_k[row];
        }
    }
    return status;
}
