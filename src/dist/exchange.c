/* SPDX-License-Identifier: Apache-2.0
 *
 * Dr. Top-k's exchange before lists meet: the best of all ranks' k-th elements bounds the k-th of the whole.
 * So of its list a rank sends what does not rank behind that bound, which all ranks tell each other first. */
#include <string.h>

#include "error.h"
#include "run.h"
#include "topk_merge.h"

/* The k-th of each list; padding where it has less than k, or k is 0, which bounds nothing. */
static void copy_kth(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    const size_t value = topk_type_size(p->problem.type);
    for (int64_t row = 0; row < p->problem.rows; row++) {
        int64_t k = p->problem.k_max, index = -1;
        if (r->input.k != NULL) {
            k = topk_dist_read_integer(p->problem.extent_type, r->input.k, row);
        }
        k = k > p->problem.k_max ? p->problem.k_max : k;
        const int64_t at = row * p->list_max + (k > 0 && k <= p->list_max ? k - 1 : 0);
        if (k > 0 && k <= p->list_max) {
            index = topk_dist_read_integer(p->problem.index_type, r->b.indices, at);
        }
        memcpy((char *)r->b.own_kth + (size_t)row * value, (const char *)r->b.values + (size_t)at * value,
               value);
        topk_dist_write_integer(p->problem.index_type, r->b.own_kth_at, row, index);
    }
}

static topk_status find_best(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    topk_lists lists = TOPK_LISTS_INIT;
    lists.lists = p->group->ranks;
    input.values = r->b.all_kth;
    input.indices = r->b.all_kth_at;
    input.lists = &lists;
    output.values = r->b.best_kth;
    output.indices = r->b.best_kth_at;
    return topk_dist_of_core(topk_plan_run(p->best_kth, &input, &output, r->b.core, p->core_bytes, NULL));
}

/* Whether entry `at` of each row's list does not rank behind the bound: in b.winner, 0 if so. */
static topk_status compare(const struct run *r, const int64_t *at) {
    const struct topk_dist_plan *p = r->plan;
    const size_t value = topk_type_size(p->problem.type);
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    for (int64_t row = 0; row < p->problem.rows; row++) {
        char *const pair = (char *)r->b.pairs + (size_t)row * 2 * value;
        memcpy(pair, (const char *)r->b.values + (size_t)(row * p->list_max + at[row]) * value, value);
        memcpy(pair + value, (const char *)r->b.best_kth + (size_t)row * value, value);
    }
    input.values = r->b.pairs;
    output.indices = r->b.winner;
    return topk_dist_of_core(topk_plan_run(p->better, &input, &output, r->b.core, p->core_bytes, NULL));
}

/* By halving, all rows at once: b.before and b.own_k enclose how many entries of a list are sent. Entries
 * that tie with the bound are, whatever their positions; where nothing bounds a row, all but padding. */
static topk_status count_sent(const struct run *r) {
    const struct topk_dist_plan *p = r->plan;
    int64_t *const low = r->b.before, *const high = r->b.own_k, *const middle = r->b.k;
    topk_status status = TOPK_OK;
    bool any = true;
    for (int64_t row = 0; row < p->problem.rows; row++) {
        high[row] = p->list_max;
        low[row] = 0;
    }
    while (any && status == TOPK_OK) {
        any = false;
        for (int64_t row = 0; row < p->problem.rows; row++) {
            any = any || low[row] < high[row];
            middle[row] = low[row] < high[row] ? low[row] + (high[row] - low[row]) / 2 : 0;
        }
        status = any ? compare(r, middle) : TOPK_OK;
        for (int64_t row = 0; row < p->problem.rows && any && status == TOPK_OK; row++) {
            const topk_index_type type = p->problem.index_type;
            const bool has_bound = topk_dist_read_integer(type, r->b.best_kth_at, row) >= 0;
            const bool is_padding =
                topk_dist_read_integer(type, r->b.indices, row * p->list_max + middle[row]) < 0;
            if (low[row] < high[row] && (is_padding || (has_bound && r->b.winner[row] != 0))) {
                high[row] = middle[row];
            } else if (low[row] < high[row]) {
                low[row] = middle[row] + 1;
            }
        }
    }
    return status;
}

topk_status topk_dist_exchange_kth(const struct run *r, int64_t *count) {
    const struct topk_dist_plan *p = r->plan;
    const size_t rows = (size_t)p->problem.rows;
    copy_kth(r);
    topk_status status =
        topk_dist_to_all(p->group, r->b.own_kth, rows * topk_type_size(p->problem.type), r->b.all_kth);
    if (status == TOPK_OK) {
        status = topk_dist_to_all(p->group, r->b.own_kth_at,
                                  rows * topk_dist_integer_bytes(p->problem.index_type), r->b.all_kth_at);
    }
    if (status != TOPK_OK) {
        return status;
    }
    status = find_best(r);
    status = topk_dist_agree(p->group, status == TOPK_OK ? count_sent(r) : status);
    if (status == TOPK_OK) {
        status = topk_dist_to_all(p->group, r->b.before, rows * sizeof *r->b.before, r->b.sent);
    }
    *count = 0;
    for (size_t list = 0; list < rows * (size_t)p->group->ranks && status == TOPK_OK; list++) {
        *count = r->b.sent[list] > *count ? r->b.sent[list] : *count;
    }
    return status;
}
