/* SPDX-License-Identifier: Apache-2.0 */
#include "merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "run.h"

/* The right answer for a row, and the part of it that the results have. */
typedef struct answer {
    oracle_candidate *best;      /* of all candidates, best first */
    const oracle_candidate **by; /* by index: all of them; only the results where indices are not written */
    bool *seen;                  /* for each of best */
    int64_t total, count;        /* candidates, results */
} answer;

/* With freedom what a slot holds shows in its index alone. */
static bool has_indices(const run *r) {
    return wants_indices(r->instance) || r->problem.ties == TOPK_TIES_ANY ||
           r->problem.order == TOPK_ORDER_ANY;
}

static int by_index(const void *left, const void *right) {
    const oracle_candidate *a = *(const oracle_candidate *const *)left,
                           *b = *(const oracle_candidate *const *)right;
    return (a->index > b->index) - (a->index < b->index);
}

static int64_t candidate_with(const answer *a, int64_t index) {
    const oracle_candidate key = {.index = index}, *wanted = &key;
    const oracle_candidate *const *found = bsearch(&wanted, a->by, (size_t)a->total, sizeof *a->by, by_index);
    return found == NULL ? -1 : *found - a->best;
}

/* What lies in a slot beside the index. `element`: of the input, or -1 for padding. */
static run_result check_slot(const run *r, int64_t at, int64_t element) {
    static const unsigned char zeros[16];
    const instance *i = r->instance;
    const size_t bytes = (size_t)r->lists.payload_bytes;
    uint64_t wanted = 0;
    if (element < 0) {
        oracle_write_padding(r->problem.type, r->problem.direction, &wanted);
    } else {
        wanted = element_get_bits(r->problem.type, i->merge_input.values, element);
    }
    if (wants_values(i) && run_output_bits(r->problem.type, &r->outputs[0], at) != wanted) {
        return run_fail("slot %" PRId64 ": expected value %#" PRIx64 " of element %" PRId64 ", got %#" PRIx64,
                        at, wanted, element, run_output_bits(r->problem.type, &r->outputs[0], at));
    }
    const unsigned char *payload =
        element < 0 || bytes == 0 ? zeros : (const unsigned char *)i->lists.payload + (size_t)element * bytes;
    return bytes == 0 || memcmp((const char *)r->outputs[2].seen + (size_t)at * bytes, payload, bytes) == 0
               ? RUN_PASSED
               : run_fail("slot %" PRId64 ": the payload of another element than %" PRId64, at, element);
}

static run_result check_result(const run *r, answer *a, int64_t at, int64_t slot, int64_t *before) {
    const topk_problem *p = &r->problem;
    const int64_t place = has_indices(r) ? candidate_with(a, instance_read_index(p, r->outputs[1].seen, at))
                          : p->order == TOPK_ORDER_BY_POSITION ? a->by[slot] - a->best
                                                               : slot;
    const bool fits =
        place >= 0 && !a->seen[place] &&
        (place < a->count || (p->ties == TOPK_TIES_ANY &&
                              oracle_order(p, &a->best[place].number, &a->best[a->count - 1].number) == 0));
    if (!fits) {
        return run_fail("slot %" PRId64 ": candidate %" PRId64 " of the ranking is no result", at, place);
    }
    const bool ordered =
        slot == 0 || (p->order == TOPK_ORDER_BEST_FIRST ? *before < place
                      : p->order == TOPK_ORDER_ANY      ? true
                                                        : a->best[*before].index < a->best[place].index);
    *before = place;
    a->seen[place] = true;
    return ordered ? check_slot(r, at, a->best[place].element)
                   : run_fail("slot %" PRId64 ": out of order", at);
}

static int64_t row_k(const run *r, int64_t row) {
    const void *k = r->instance->merge_input.k;
    const int64_t given = k == NULL                                  ? r->problem.k_max
                          : r->problem.extent_type == TOPK_INDEX_I32 ? ((const int32_t *)k)[row]
                                                                     : ((const int64_t *)k)[row];
    return given < 0 ? 0 : given < r->problem.k_max ? given : r->problem.k_max;
}

static run_result check_padding(const run *r, int64_t at, int64_t index) {
    const int64_t got = has_indices(r) ? instance_read_index(&r->problem, r->outputs[1].seen, at) : index;
    return got == index ? check_slot(r, at, -1)
                        : run_fail("slot %" PRId64 ": expected padding, got index %" PRId64, at, got);
}

static run_result check_row(const run *r, int64_t row, answer *a) {
    const topk_problem *p = &r->problem;
    const int64_t k = row_k(r, row);
    int64_t before = 0;
    run_result result = RUN_PASSED;
    a->total =
        oracle_merge(&r->instance->merge, &r->instance->merge_input, &r->instance->lists, row, a->best);
    const bool is_valid = a->total != ORACLE_MERGE_INVALID;
    a->count = !is_valid ? 0 : k < a->total ? k : a->total;
    for (int64_t i = 0; i < a->total; i++) {
        a->by[i] = &a->best[i];
        a->seen[i] = false;
    }
    if (is_valid && (has_indices(r) || p->order == TOPK_ORDER_BY_POSITION)) {
        qsort(a->by, (size_t)(has_indices(r) ? a->total : a->count), sizeof *a->by, by_index);
    }
    for (int64_t slot = 0; slot < p->k_max && result == RUN_PASSED; slot++) {
        result = slot < a->count ? check_result(r, a, row * p->k_max + slot, slot, &before)
                                 : check_padding(r, row * p->k_max + slot, is_valid ? -1 : -2);
    }
    for (int64_t i = 0; i < a->count && result == RUN_PASSED; i++) { /* the k-th's ties may stand in */
        const bool ties = oracle_order(p, &a->best[i].number, &a->best[a->count - 1].number) == 0;
        if (!a->seen[i] && !ties) {
            result = run_fail("row %" PRId64 ": candidate %" PRId64 " of the ranking is missing", row, i);
        }
    }
    return result;
}

static run_result judge(const run *r) {
    const size_t most = (size_t)(r->lists.lists * r->problem.length_max) + 1;
    answer a = {malloc(most * sizeof *a.best), malloc(most * sizeof *a.by), malloc(most), 0, 0};
    run_result result = RUN_PASSED;
    if (a.best == NULL || a.by == NULL || a.seen == NULL) {
        abort();
    }
    for (int64_t row = 0; row < r->problem.rows && result == RUN_PASSED; row++) {
        result = check_row(r, row, &a);
    }
    free(a.best);
    free((void *)a.by);
    free(a.seen);
    return result;
}

static void make_outputs(run *r) {
    const int64_t slots = r->problem.rows * r->problem.k_max;
    r->outputs[0] = run_output(wants_values(r->instance), slots, oracle_type_size(r->problem.type));
    r->outputs[1] = run_output(has_indices(r), slots, instance_index_bytes(&r->problem));
    r->outputs[2] = run_output(r->lists.payload_bytes > 0, slots, (size_t)r->lists.payload_bytes);
}

static topk_status call(topk_context *context, run *r, const topk_input *input) {
    const topk_input own = instance_merge_input(r->instance);
    (void)input;
    return topk_merge(context, &r->problem, &own, &r->lists, r->outputs[0].data, r->outputs[1].data,
                      r->outputs[2].data, r->workspace.data, r->workspace.bytes, device_stream());
}

static void give(const run *r, topk_input *input, topk_output *output) {
    *input = instance_merge_input(r->instance);
    input->lists = &r->lists;
    output->values = r->outputs[0].data;
    output->indices = r->outputs[1].data;
    output->payload = r->outputs[2].data;
}

static void end(run *r) {
    (void)r;
}

const run_operation run_merge = {"merge", TOPK_OPERATION_MERGE, make_outputs, call, give, judge,
                                 end,     PROBLEM_PLAIN};
