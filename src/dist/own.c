/* SPDX-License-Identifier: Apache-2.0
 *
 * What a rank selects from its own elements, and the positions that these have in the whole row. */
#include <inttypes.h>

#include "error.h"
#include "run.h"
#include "topk_transfer.h"

void topk_dist_stride_positions(const struct run *r, void *indices, int64_t pitch) {
    const struct topk_dist_plan *p = r->plan;
    const topk_index_type type = p->problem.index_type;
    const int64_t ranks = p->group->ranks, base = p->problem.index_base + p->group->rank;
    if (p->options.map != TOPK_DIST_STRIDE || indices == NULL) {
        return;
    }
    for (int64_t at = 0; at < p->problem.rows * pitch; at++) {
        const int64_t position = topk_dist_read_integer(type, indices, at);
        if (position >= 0) {
            topk_dist_write_integer(type, indices, at, position * ranks + base);
        }
    }
}

const void *topk_dist_own_k(const struct run *r, const int64_t *own_k) {
    const struct topk_dist_plan *p = r->plan;
    if (own_k == NULL) {
        return r->input.k;
    }
    for (int64_t row = 0; row < p->problem.rows; row++) {
        topk_dist_write_integer(p->problem.extent_type, r->b.ks, row, own_k[row]);
    }
    return r->b.ks;
}

topk_status topk_dist_select_own(const struct run *r, const int64_t *own_k) {
    const struct topk_dist_plan *p = r->plan;
    topk_input input = r->input;
    topk_output output = TOPK_OUTPUT_INIT;
    output.values = r->b.values;
    output.indices = r->b.indices;
    input.k = topk_dist_own_k(r, own_k);
    const topk_status status = topk_dist_is_streamed(p)
                                   ? topk_dist_stream_own(r, input.k)
                                   : topk_dist_of_core(topk_plan_run(p->local, &input, &output, r->b.core,
                                                                     p->core_bytes, r->stream));
    if (status == TOPK_OK) {
        topk_dist_stride_positions(r, r->b.indices, p->list_max);
    }
    return status;
}

topk_status topk_dist_select_placed(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const topk_problem problem = topk_dist_placed_problem(p);
    topk_input input = r->input;
    input.k = NULL;
    return topk_dist_of_core(topk_sharded_select(p->context, &problem, r->b.state, p->counting.state_bytes,
                                                 &input, r->b.before, p->pitch, r->output.values,
                                                 r->output.indices, r->stream));
}

topk_status topk_dist_check_table(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    topk_status status = TOPK_OK;
    if (topk_dist_checks_table(p)) {
        status =
            topk_dist_of_core(topk_find_descents(p->context, &p->problem, &r->input, r->b.descents, NULL));
    }
    for (int64_t row = 0; row < p->problem.rows && topk_dist_checks_table(p) && status == TOPK_OK; row++) {
        if (r->b.descents[row] >= 0) {
            status = topk_dist_fail(TOPK_ERROR_CONTRADICTION,
                                    "input->indices: in row %" PRId64 " the position of element %" PRId64
                                    " is negative, or not above the one before it",
                                    row, r->b.descents[row]);
        }
    }
    return status;
}

/* Whether `position` is among the `count` ascending ones. */
static bool is_among(topk_index_type type, const void *ascending, int64_t count, int64_t first,
                     int64_t position) {
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (topk_dist_read_integer(type, ascending, first + middle) < position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && topk_dist_read_integer(type, ascending, first + low) == position;
}

static int64_t results_of(topk_index_type type, const void *indices, int64_t first, int64_t pitch) {
    int64_t low = 0, high = pitch;
    while (low < high) { /* padding comes last */
        const int64_t middle = low + (high - low) / 2;
        if (topk_dist_read_integer(type, indices, first + middle) >= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A list is best first, so the results in it are its first entries. */
void topk_dist_find_own(const struct run *r, int64_t count) {
    const struct topk_dist_plan *p = r->plan;
    const topk_index_type type = p->problem.index_type;
    for (int64_t row = 0; row < p->problem.rows; row++) {
        const int64_t winners = row * p->winners_max, list = row * p->list_max;
        const int64_t won = results_of(type, r->b.winners, winners, p->winners_max);
        const int64_t sent = topk_dist_exchanges(p) ? r->b.before[row] : count;
        int64_t low = 0, high = results_of(type, r->b.indices, list, sent);
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (is_among(type, r->b.winners, won, winners,
                         topk_dist_read_integer(type, r->b.indices, list + middle))) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        r->b.own_k[row] = low;
    }
}
