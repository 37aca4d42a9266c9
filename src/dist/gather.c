/* SPDX-License-Identifier: Apache-2.0
 *
 * Gather: each rank selects its k best, the lists meet, of all ranks at once or by nodes, and are merged.
 * Also the sum of counts, which needs no more. */
#include <string.h>

#include "error.h"
#include "run.h"
#include "topk_merge.h"

/* The rank's results out of its list, by position. */
static topk_status place(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    topk_lists lists = TOPK_LISTS_INIT;
    for (int64_t row = 0; row < p->problem.rows; row++) {
        topk_dist_write_integer(p->problem.extent_type, r->b.ks, row, r->b.own_k[row]);
    }
    lists.lists = 1;
    lists.sorted = TOPK_SORTED_BEST_FIRST;
    input.values = r->b.values;
    input.indices = r->b.indices;
    input.lists = &lists;
    input.k = r->b.ks;
    input.lengths = r->b.ks; /* entries that were not sent are lost */
    output.values = r->output.values;
    output.indices = r->output.indices;
    return topk_dist_of_core(topk_plan_run(p->placed, &input, &output, r->b.core, p->core_bytes, NULL));
}

topk_status topk_dist_run_gather(struct run *r, topk_status status) {
    const struct topk_dist_plan *p = r->plan;
    if (status == TOPK_OK) {
        status = topk_dist_select_own(r, NULL);
    }
    int64_t count = p->list_max;
    status = topk_dist_agree(p->group, status);
    if (status == TOPK_OK && topk_dist_exchanges(p)) {
        status = topk_dist_exchange_kth(r, &count);
    }
    if (status != TOPK_OK) {
        return status;
    }
    status = p->nodes != NULL ? topk_dist_deliver_by_nodes(r, count) : topk_dist_deliver(r, count);
    if (!topk_dist_is_placed(p) || p->group->broken) {
        return status;
    }
    if (status == TOPK_OK) {
        topk_dist_find_own(r, count);
    } else { /* the others wait for numbers all the same */
        memset(r->b.own_k, 0, (size_t)p->problem.rows * sizeof *r->b.own_k);
    }
    const topk_status numbered = topk_dist_number_own(r);
    status = status == TOPK_OK ? numbered : status;
    return status == TOPK_OK ? place(r) : status;
}

topk_status topk_dist_run_count(struct run *r, topk_status status) {
    const struct topk_dist_plan *p = r->plan;
    topk_output output = TOPK_OUTPUT_INIT;
    output.counts = r->b.better;
    if (status == TOPK_OK && topk_dist_is_streamed(p)) {
        status = topk_dist_stream_count(r);
    } else if (status == TOPK_OK) {
        status =
            topk_dist_of_core(topk_plan_run(p->local, &r->input, &output, r->b.core, p->core_bytes, NULL));
    }
    status = topk_dist_agree(p->group, status);
    if (status == TOPK_OK) {
        status = topk_dist_sum(p->group, r->b.better, p->problem.rows);
    }
    for (int64_t row = 0; row < p->problem.rows && status == TOPK_OK; row++) {
        r->output.counts[row] = r->b.better[row];
    }
    return status;
}
