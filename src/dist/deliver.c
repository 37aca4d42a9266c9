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

/* ---- Lists of varied lengths ---- */

/* Whether the lists that b.sent tells of are sent as they are. All ranks find the same. */
static bool is_varied(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const int64_t lists = p->problem.rows * p->group->ranks;
    int64_t all = 0;
    for (int64_t list = 0; topk_dist_exchanges(p) && list < lists && all <= TOPK_DIST_VARIED_BYTES; list++) {
        all += r->b.sent[list] * (int64_t)sizeof(int64_t); /* no value and no index is wider */
    }
    return topk_dist_exchanges(p) && p->group->transport->to_all_varied != NULL &&
           all <= TOPK_DIST_VARIED_BYTES;
}

/* How many candidates a rank sends of rows [first, end). */
static int64_t sent_of(const struct run *r, int rank, int64_t first, int64_t end) {
    int64_t count = 0;
    for (int64_t row = first; row < end; row++) {
        count += r->b.sent[rank * r->plan->problem.rows + row];
    }
    return count;
}

/* Rows of list_max slots lie one behind the other, each with the candidates that are sent; and the reverse,
 * for the rows that begin with `first`. What follows these candidates is lost. */
static void pack_varied(const struct run *r, char *list, size_t bytes) {
    const struct topk_dist_plan *p = r->plan;
    char *to = list;
    for (int64_t row = 0; row < p->problem.rows; row++) {
        const size_t sent = (size_t)r->b.before[row] * bytes;
        memmove(to, list + (size_t)(row * p->list_max) * bytes, sent);
        to += sent;
    }
}

/* From the back: `from` is where the packed rows end. Returns where they begin. */
static const char *spread_varied(const struct run *r, char *list, const char *from, int rank, int64_t first,
                                 int64_t end, size_t bytes) {
    const struct topk_dist_plan *p = r->plan;
    for (int64_t row = end - 1; row >= first; row--) {
        const size_t sent = (size_t)r->b.sent[rank * p->problem.rows + row] * bytes;
        from -= sent;
        memmove(list + (size_t)((row - first) * p->list_max) * bytes, from, sent);
    }
    return from;
}

static int64_t lesser(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static topk_status send_varied(const struct run *r, char *list, char *got, size_t bytes) {
    const struct topk_dist_plan *p = r->plan;
    const int ranks = p->group->ranks;
    const int64_t rows = p->problem.rows, end = p->first_row + p->got_rows;
    const bool is_root = p->options.destination == TOPK_DIST_ROOT;
    int64_t *const to = r->b.blocks, *const from = to + ranks, all = 0;
    topk_status status;
    for (int rank = 0; rank < ranks; rank++) {
        const int64_t first = lesser(rank * p->block_rows, rows);
        to[rank] = sent_of(r, p->group->rank, first, lesser(first + p->block_rows, rows)) * (int64_t)bytes;
        from[rank] =
            (is_root ? sent_of(r, rank, 0, rows) : sent_of(r, rank, p->first_row, end)) * (int64_t)bytes;
        all += from[rank];
    }
    pack_varied(r, list, bytes);
    switch (p->options.destination) {
    case TOPK_DIST_ROOT:
        status = topk_dist_to_root_varied(p->group, p->options.root, list, from, got);
        break;
    case TOPK_DIST_OWNER:
        status = topk_dist_to_each_varied(p->group, list, to, from, got);
        break;
    default:
        status = topk_dist_to_all_varied(p->group, list, from, got);
        break;
    }
    const char *at = got + all;
    for (int rank = ranks - 1; rank >= 0 && status == TOPK_OK && p->got_rows > 0; rank--) {
        char *const of_rank = got + (size_t)(rank * p->block_rows * p->list_max) * bytes;
        at = spread_varied(r, of_rank, at, rank, p->first_row, end, bytes);
    }
    if (topk_dist_is_placed(p)) { /* results are taken from the lists later */
        const char *const own_end = list + from[p->group->rank];
        (void)spread_varied(r, list, own_end, p->group->rank, 0, rows, bytes);
    }
    return status;
}

/* ---- Lists of one length ---- */

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
    if (topk_dist_is_placed(p)) { /* results are taken from the lists later */
        topk_dist_spread(list, p->problem.rows, p->list_max, count, bytes);
    }
    return status;
}

/* ---- Either ---- */

/* How many candidates the lists have that came, if these were not sent whole. */
static void write_lengths(const struct run *r, int64_t count, bool varied) {
    const struct topk_dist_plan *p = r->plan;
    for (int rank = 0; rank < p->group->ranks; rank++) {
        const int64_t *const sent = varied ? r->b.sent + rank * p->problem.rows + p->first_row : NULL;
        for (int64_t row = 0; row < p->got_rows; row++) {
            topk_dist_write_integer(p->problem.extent_type, r->b.lengths, rank * p->got_rows + row,
                                    sent != NULL ? sent[row] : count);
        }
    }
}

static topk_status merge(const struct run *r, int64_t count, bool varied, void *values, void *indices) {
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
    if (varied || count < p->list_max) {
        write_lengths(r, count, varied);
        input.lengths = r->b.lengths;
    }
    output.values = values;
    output.indices = indices;
    return topk_dist_of_core(topk_plan_run(p->merge, &input, &output, r->b.core, p->core_bytes, NULL));
}

topk_status topk_dist_deliver(const struct run *r, int64_t count) {
    const struct topk_dist_plan *p = r->plan;
    const size_t value = topk_type_size(p->problem.type),
                 index = topk_dist_integer_bytes(p->problem.index_type);
    const bool is_placed = topk_dist_is_placed(p), varied = is_varied(r);
    topk_status status = TOPK_OK;
    if (p->list_max > 0) {
        status = varied ? send_varied(r, r->b.values, r->b.got_values, value)
                        : send(r, r->b.values, r->b.got_values, count, value);
    }
    if (status == TOPK_OK && p->list_max > 0) {
        status = varied ? send_varied(r, r->b.indices, r->b.got_indices, index)
                        : send(r, r->b.indices, r->b.got_indices, count, index);
    }
    if (status != TOPK_OK || p->got_rows == 0) {
        return status;
    }
    return merge(r, count, varied, is_placed ? NULL : r->output.values,
                 is_placed ? r->b.winners : r->output.indices);
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
