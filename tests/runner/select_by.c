/* SPDX-License-Identifier: Apache-2.0 */
#include "topk_groups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "merge.h"
#include "run.h"

/* The right answer for a group, and what the results have of it. */
typedef struct answer {
    oracle_candidate *members; /* of the group, best first; their indices are positions */
    int64_t *places;           /* for each element, its place among the members of its group */
    bool *seen;                /* for each of members */
    int64_t total, count;      /* members, results */
} answer;

/* With freedom what a slot holds shows in its index alone. */
static bool has_indices(const run *r) {
    return wants_indices(r->instance) || r->problem.ties == TOPK_TIES_ANY ||
           r->problem.order == TOPK_ORDER_ANY;
}

static int64_t read_extent(const topk_problem *p, const void *array, int64_t at) {
    return p->extent_type == TOPK_INDEX_I32 ? ((const int32_t *)array)[at] : ((const int64_t *)array)[at];
}

static int64_t row_k(const run *r, int64_t row) {
    const void *k = r->instance->by_input.k;
    const int64_t given = k == NULL ? r->problem.k_max : read_extent(&r->problem, k, row);
    return given < 0 ? 0 : given < r->problem.k_max ? given : r->problem.k_max;
}

/* The element whose index lies in a slot, or -1. */
static int64_t element_at(const run *r, int64_t at) {
    const int64_t index = instance_read_index(&r->problem, r->outputs[1].seen, at);
    const int64_t element =
        r->instance->by_input.indices != NULL ? INSTANCE_BY_PAYLOAD - index : index - r->problem.index_base;
    return element >= 0 && element < r->problem.length_max ? element : -1;
}

static run_result check_value(const run *r, int64_t at, int64_t element) {
    uint64_t wanted = 0;
    if (element < 0) {
        oracle_write_padding(r->problem.type, r->problem.direction, &wanted);
    } else {
        wanted = element_get_bits(r->problem.type, r->instance->by_input.values, element);
    }
    return !wants_values(r->instance) || run_output_bits(r->problem.type, &r->outputs[0], at) == wanted
               ? RUN_PASSED
               : run_fail("slot %" PRId64 ": expected value %#" PRIx64 " of element %" PRId64
                          ", got %#" PRIx64,
                          at, wanted, element, run_output_bits(r->problem.type, &r->outputs[0], at));
}

/* The place of the result that belongs in a slot where no index tells. */
static int64_t implied_place(const run *r, const answer *a, int64_t before, int64_t slot) {
    int64_t next = -1;
    if (r->problem.order != TOPK_ORDER_BY_POSITION) {
        return slot;
    }
    for (int64_t i = 0; i < a->count; i++) { /* the first one behind the last position */
        const bool is_behind = slot == 0 || a->members[i].index > a->members[before].index;
        if (is_behind && (next < 0 || a->members[i].index < a->members[next].index)) {
            next = i;
        }
    }
    return next;
}

static bool ties(const run *r, const answer *a, int64_t place) {
    return oracle_order(&r->problem, &a->members[place].number, &a->members[a->count - 1].number) == 0;
}

static run_result check_result(const run *r, int64_t group, answer *a, int64_t slot, int64_t *before) {
    const topk_problem *p = &r->problem;
    const int64_t at = group * p->k_max + slot;
    int64_t place;
    if (has_indices(r)) {
        const int64_t element = element_at(r, at);
        if (element < 0 || read_extent(p, r->instance->by_input.groups, element) != group) {
            return run_fail("slot %" PRId64 ": element %" PRId64 " is not of group %" PRId64, at, element,
                            group);
        }
        place = a->places[element];
    } else {
        place = implied_place(r, a, *before, slot);
    }
    if (a->seen[place] || (place >= a->count && !(p->ties == TOPK_TIES_ANY && ties(r, a, place)))) {
        return run_fail("slot %" PRId64 ": member %" PRId64 " of the ranking is no result", at, place);
    }
    const bool ordered =
        slot == 0 || p->order == TOPK_ORDER_ANY ||
        (p->order == TOPK_ORDER_BEST_FIRST ? *before < place
                                           : a->members[*before].index < a->members[place].index);
    *before = place;
    a->seen[place] = true;
    return ordered ? check_value(r, at, a->members[place].element)
                   : run_fail("slot %" PRId64 ": out of order", at);
}

static run_result check_padding(const run *r, int64_t at) {
    const int64_t got = has_indices(r) ? instance_read_index(&r->problem, r->outputs[1].seen, at) : -1;
    return got == -1 ? check_value(r, at, -1)
                     : run_fail("slot %" PRId64 ": expected padding, got index %" PRId64, at, got);
}

static void find_members(const run *r, int64_t group, answer *a) {
    const instance *i = r->instance;
    const size_t size = oracle_type_size(r->problem.type);
    a->total = 0;
    for (int64_t e = 0; e < r->problem.length_max; e++) {
        if (read_extent(&r->problem, i->by_input.groups, e) == group) {
            a->members[a->total++] = (oracle_candidate){
                oracle_decode(r->problem.type, (const char *)i->by_input.values + (size_t)e * size), e, e};
        }
    }
    oracle_sort_candidates(&r->problem, a->members, a->total);
    for (int64_t place = 0; place < a->total; place++) {
        a->places[a->members[place].element] = place;
        a->seen[place] = false;
    }
}

static run_result check_group(const run *r, int64_t group, answer *a) {
    const int64_t k = row_k(r, group);
    int64_t before = 0;
    run_result result = RUN_PASSED;
    find_members(r, group, a);
    a->count = k < a->total ? k : a->total;
    for (int64_t slot = 0; slot < r->problem.k_max && result == RUN_PASSED; slot++) {
        result = slot < a->count ? check_result(r, group, a, slot, &before)
                                 : check_padding(r, group * r->problem.k_max + slot);
    }
    for (int64_t i = 0; i < a->count && result == RUN_PASSED; i++) { /* the k-th's ties may stand in */
        if (!a->seen[i] && !ties(r, a, i)) {
            result = run_fail("group %" PRId64 ": member %" PRId64 " of the ranking is missing", group, i);
        }
    }
    const int64_t *counts = (const int64_t *)r->outputs[2].seen;
    return result == RUN_PASSED && counts != NULL && counts[group] != a->total
               ? run_fail("group %" PRId64 ": counted %" PRId64 " of %" PRId64, group, counts[group],
                          a->total)
               : result;
}

static run_result judge(const run *r) {
    const size_t most = (size_t)r->problem.length_max + 1;
    answer a = {malloc(most * sizeof *a.members), malloc(most * sizeof *a.places), malloc(most), 0, 0};
    run_result result = RUN_PASSED;
    if (a.members == NULL || a.places == NULL || a.seen == NULL) {
        abort();
    }
    for (int64_t group = 0; group < r->problem.rows && result == RUN_PASSED; group++) {
        result = check_group(r, group, &a);
    }
    free(a.members);
    free(a.places);
    free(a.seen);
    return result;
}

static void make_outputs(run *r) {
    const int64_t slots = r->problem.rows * r->problem.k_max;
    r->outputs[0] = run_output(wants_values(r->instance), slots, oracle_type_size(r->problem.type));
    r->outputs[1] = run_output(has_indices(r), slots, instance_index_bytes(&r->problem));
    r->outputs[2] = run_output(r->instance->source->seed % 3 != 0, r->problem.rows, sizeof(int64_t));
}

static topk_status call(topk_context *context, run *r, const topk_input *input) {
    const topk_input own = instance_by_input(r->instance);
    (void)input;
    return topk_select_by(context, &r->problem, &own, r->outputs[0].data, r->outputs[1].data,
                          r->outputs[2].data, r->workspace.data, r->workspace.bytes, device_stream());
}

static void give(const run *r, topk_input *input, topk_output *output) {
    *input = instance_by_input(r->instance);
    output->values = r->outputs[0].data;
    output->indices = r->outputs[1].data;
    output->counts = r->outputs[2].data;
}

static void end(run *r) {
    (void)r;
}

const run_operation run_select_by = {
    "select_by", TOPK_OPERATION_SELECT_BY, make_outputs, call, give, judge, end, PROBLEM_PLAIN};
