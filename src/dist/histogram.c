/* SPDX-License-Identifier: Apache-2.0
 *
 * Histogram: sums of counters find the k-th element (topk_sharded.h), and each rank learns how many results
 * it has. Ties at the k-th go by position in the whole row. Where ranks have runs of positions, the ties of
 * those before count first. Else each rank lists the positions of its ties, as many as may be results, and
 * the same rounds find the last position that is one. */
#include <string.h>

#include "error.h"
#include "run.h"

/* What the rounds are about: elements of the rank, or positions of its ties. */
struct counted {
    const topk_problem *problem;
    const topk_sharded_properties *properties;
    const topk_input *input;
    const void *k;
    void *state;
    int64_t *counters;
};

static topk_status count_round(const struct run *r, const struct counted *c, int round) {
    if (c->problem == &r->plan->counted && topk_dist_is_streamed(r->plan)) {
        return topk_dist_stream_round(r, round);
    }
    return topk_dist_of_core(topk_sharded_count(r->plan->context, c->problem, c->state,
                                                c->properties->state_bytes, round, c->input, c->counters,
                                                NULL));
}

/* All rounds. A rank that cannot go on says so behind the counters, and all ranks end together. */
static topk_status count_rounds(const struct run *r, const struct counted *c) {
    topk_context *const context = r->plan->context;
    topk_dist_group *const group = r->plan->group;
    const size_t bytes = c->properties->state_bytes;
    const int64_t count = c->properties->counters;
    topk_status status =
        topk_dist_of_core(topk_sharded_begin(context, c->problem, c->state, bytes, c->k, c->counters, NULL));
    for (int round = 0; round < c->properties->rounds; round++) {
        if (status == TOPK_OK) {
            status = count_round(r, c, round);
        }
        c->counters[count] = status != TOPK_OK;
        const topk_status sent = topk_dist_sum(group, c->counters, count + 1);
        if (sent != TOPK_OK) {
            return sent;
        }
        if (c->counters[count] > 0) {
            return topk_dist_agree(group, status);
        }
        status = topk_dist_of_core(topk_sharded_advance(context, c->problem, c->state, bytes, round,
                                                        c->counters, c->counters, NULL));
    }
    return topk_dist_agree(group, status);
}

static topk_status result(const struct run *r, const topk_problem *problem,
                          const topk_sharded_properties *properties, void *state, const int64_t *before,
                          const topk_sharded_output *output) {
    return topk_dist_of_core(
        topk_sharded_result(r->plan->context, problem, state, properties->state_bytes, before, output, NULL));
}

static topk_status result_of_elements(const struct run *r, const int64_t *before,
                                      const topk_sharded_output *output) {
    return result(r, &r->plan->counted, &r->plan->counting, r->b.state, before, output);
}

/* Of each row how many elements of all ranks, and of this one, are better than the k-th and equal to it. */
static topk_status find_kth(struct run *r, topk_status status) {
    const struct topk_dist_plan *p = r->plan;
    topk_input input = r->input;
    topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
    input.k = NULL;
    input.indices = NULL;
    const struct counted elements = {&p->counted, &p->counting, &input,
                                     r->input.k,  r->b.state,   r->b.counters};
    status = topk_dist_agree(p->group, status);
    if (status == TOPK_OK) {
        status = count_rounds(r, &elements);
    }
    if (status != TOPK_OK) {
        return status;
    }
    output.better = r->b.better;
    output.equal = r->b.equal;
    output.own_better = r->b.own_better;
    output.own_equal = r->b.own_equal;
    return result_of_elements(r, NULL, &output);
}

topk_status topk_dist_run_kth(struct run *r, topk_status status) {
    topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
    status = find_kth(r, status);
    if (status != TOPK_OK) {
        return status;
    }
    output.kth = r->output.values;
    output.better = r->output.better;
    output.equal = r->output.equal;
    return result_of_elements(r, NULL, &output);
}

/* ---- How many of the results are the rank's own ---- */

/* k of each row, clamped. */
static void read_k(const struct run *r) {
    const topk_problem *p = &r->plan->problem;
    for (int64_t row = 0; row < p->rows; row++) {
        int64_t k = p->k_max;
        if (r->input.k != NULL) {
            k = topk_dist_read_integer(p->extent_type, r->input.k, row);
            k = k < 0 ? 0 : k > p->k_max ? p->k_max : k;
        }
        r->b.k[row] = k;
    }
}

/* Whether not all ties of the row are results. There are ties only if the row has a k-th element. */
static bool is_cut(const struct run *r, int64_t row) {
    return r->b.equal[row] > 0 && r->b.better[row] + r->b.equal[row] > r->b.k[row];
}

static bool any_is_cut(const struct run *r) {
    bool any = false;
    for (int64_t row = 0; row < r->plan->problem.rows; row++) {
        any = any || is_cut(r, row);
    }
    return any;
}

/* Ranks count their ties in the order of their runs; where ties are free, or all are results, any order does.
 */
static topk_status count_ties_before(struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const int64_t rows = p->problem.rows;
    topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
    const int own = p->group->rank;
    const topk_status status =
        topk_dist_to_all(p->group, r->b.own_equal, (size_t)rows * sizeof *r->b.own_equal, r->b.all);
    if (status != TOPK_OK) {
        return status;
    }
    for (int64_t row = 0; row < rows; row++) {
        r->b.before[row] = 0;
        for (int rank = 0; rank < p->group->ranks; rank++) {
            const bool is_before =
                p->bases[rank] != p->bases[own] ? p->bases[rank] < p->bases[own] : rank < own;
            r->b.before[row] += is_before ? r->b.all[rank * rows + row] : 0;
        }
    }
    output.own_k = r->b.own_k;
    return result_of_elements(r, r->b.before, &output);
}

/* The rank's candidates: all that are better than the k-th, and as many ties as may be results. */
static topk_status list_ties(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const int64_t rows = p->problem.rows;
    for (int64_t row = 0; row < rows; row++) {
        const int64_t wanted = is_cut(r, row) ? r->b.k[row] - r->b.better[row] : r->b.own_equal[row];
        const int64_t ties = wanted < r->b.own_equal[row] ? wanted : r->b.own_equal[row];
        r->b.tie_k[row] = is_cut(r, row) ? wanted : 0;
        r->b.tie_lengths[row] = is_cut(r, row) ? ties : 0;
        r->b.own_k[row] = r->b.own_better[row] + ties;
    }
    const topk_status status = topk_dist_select_own(r, r->b.own_k);
    for (int64_t row = 0; row < rows && status == TOPK_OK; row++) {
        const int64_t first = row * p->list_max;
        for (int64_t tie = 0; tie < r->b.tie_lengths[row]; tie++) {
            r->b.ties[first + tie] = topk_dist_read_integer(p->problem.index_type, r->b.indices,
                                                            first + r->b.own_better[row] + tie);
        }
    }
    return status;
}

/* Rounds over the positions of all ranks' ties: their state then knows the last one that is a result. */
static topk_status count_tied(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    topk_input input = TOPK_INPUT_INIT;
    const struct counted ties = {&p->tied, &p->tying, &input, r->b.tie_k, r->b.tie_state, r->b.tie_counters};
    const topk_status status = topk_dist_agree(p->group, list_ties(r));
    input.values = r->b.ties;
    input.lengths = r->b.tie_lengths;
    return status == TOPK_OK ? count_rounds(r, &ties) : status;
}

/* Of its ties in rows that are cut a rank keeps those up to the last position that is a result. */
static topk_status cut_ties(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    topk_sharded_output output = TOPK_SHARDED_OUTPUT_INIT;
    output.kth = r->b.last_tie;
    const topk_status status = result(r, &p->tied, &p->tying, r->b.tie_state, NULL, &output);
    for (int64_t row = 0; row < p->problem.rows && status == TOPK_OK; row++) {
        int64_t kept = 0;
        while (kept < r->b.tie_lengths[row] && r->b.ties[row * p->list_max + kept] <= r->b.last_tie[row]) {
            kept++;
        }
        r->b.own_k[row] -= r->b.tie_lengths[row] - kept;
        /* As if enough ties came before that this rank has just the ties it keeps. */
        r->b.before[row] = is_cut(r, row) ? r->b.tie_k[row] - kept : 0;
    }
    return status;
}

/* Once all ranks know that they have their results: the ones that came in pieces are in lists. */
static topk_status write_placed(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const size_t slots = (size_t)(p->problem.rows * p->pitch);
    if (!topk_dist_is_streamed(p)) {
        const topk_status status = topk_dist_select_placed(r);
        if (status == TOPK_OK) {
            topk_dist_stride_positions(r, r->output.indices, p->pitch);
        }
        return status;
    }
    if (r->output.values != NULL && slots > 0) {
        memcpy(r->output.values, r->b.values, slots * topk_type_size(p->problem.type));
    }
    if (r->output.indices != NULL && slots > 0) {
        memcpy(r->output.indices, r->b.indices, slots * topk_dist_integer_bytes(p->problem.index_type));
    }
    return TOPK_OK;
}

topk_status topk_dist_run_histogram(struct run *r, topk_status status) {
    const struct topk_dist_plan *p = r->plan;
    status = find_kth(r, status);
    if (status != TOPK_OK) {
        return status;
    }
    read_k(r);
    const bool by_rounds = topk_dist_may_tie(p) && any_is_cut(r);
    status = by_rounds ? count_tied(r) : TOPK_OK;
    if (status != TOPK_OK) {
        return status; /* all ranks know */
    }
    status = by_rounds ? cut_ties(r) : count_ties_before(r);
    if (topk_dist_is_placed(p)) {
        if (status == TOPK_OK && topk_dist_is_streamed(p)) {
            status = topk_dist_stream_placed(r);
            if (status == TOPK_OK) {
                topk_dist_stride_positions(r, r->b.indices, p->pitch);
            }
        }
        const topk_status sent = topk_dist_agree(p->group, status);
        status = sent == TOPK_OK ? topk_dist_number_own(r) : sent;
        return status == TOPK_OK ? write_placed(r) : status;
    }
    if (status == TOPK_OK && !by_rounds) {
        status = topk_dist_select_own(r, r->b.own_k);
    }
    status = topk_dist_agree(p->group, status);
    int64_t count = 0;
    for (int64_t row = 0; row < p->problem.rows && status == TOPK_OK; row++) {
        count = r->b.own_k[row] > count ? r->b.own_k[row] : count;
    }
    if (status == TOPK_OK) {
        status = topk_dist_most(p->group, &count, 1);
    }
    return status == TOPK_OK ? topk_dist_deliver(r, count) : status;
}
