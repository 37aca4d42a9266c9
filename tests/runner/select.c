/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "rtopk.h"
#include "run.h"

/* What one slot of a row holds. An output that is not wanted counts as 0 everywhere. */
typedef struct slot {
    int64_t index;
    uint64_t bits;
} slot;

typedef struct row_check {
    const instance *i;
    const instance_row *row;
    const oracle_entry *ranking; /* of what may be selected */
    int64_t ranked;
    int64_t number;
    int64_t results; /* slots that must hold results; the others must hold padding */
    const slot *got;
    slot *wanted; /* k_max of scratch */
} row_check;

static bool same(const slot *a, const slot *b) {
    return a->index == b->index && a->bits == b->bits;
}

static run_result differs(const row_check *c, int64_t at, const slot *wanted) {
    return run_fail("row %" PRId64 " slot %" PRId64 " of %" PRId64 " results: expected index %" PRId64
                    " bits %#" PRIx64 ", got index %" PRId64 " bits %#" PRIx64,
                    c->number, at, c->results, wanted->index, wanted->bits, c->got[at].index,
                    c->got[at].bits);
}

static int by_bits(const void *a, const void *b) {
    const slot *x = a, *y = b;
    return (x->bits > y->bits) - (x->bits < y->bits);
}

static uint64_t row_bits(const row_check *c, int64_t position) {
    return element_get_bits(c->i->problem.type, c->i->input.values, c->row->extent.first + position);
}

static slot slot_of(const row_check *c, int64_t position) {
    slot out = {0, 0};
    if (wants_indices(c->i)) {
        out.index = instance_index(c->i, c->row, position);
    }
    if (wants_values(c->i)) {
        out.bits = row_bits(c, position);
    }
    return out;
}

static run_result check_padding(const row_check *c) {
    const topk_problem *p = &c->i->problem;
    uint64_t bits = 0;
    oracle_write_padding(p->type, p->direction, &bits);
    slot padding = {wants_indices(c->i) ? -1 : 0,
                    wants_values(c->i) ? element_get_bits(p->type, &bits, 0) : 0};
    for (int64_t s = c->results; s < p->k_max; s++) {
        if (!same(&c->got[s], &padding)) {
            return differs(c, s, &padding);
        }
    }
    return RUN_PASSED;
}

static run_result check_exact(const row_check *c) {
    for (int64_t s = 0; s < c->results; s++) {
        slot wanted = slot_of(c, c->ranking[s].position);
        if (!same(&c->got[s], &wanted)) {
            return differs(c, s, &wanted);
        }
    }
    return RUN_PASSED;
}

/* Marks the positions of the results in a row's worth of marks, which the caller frees. */
static bool *mark_results(const row_check *c) {
    bool *marks = calloc((size_t)c->row->extent.length + 1, sizeof *marks);
    if (marks == NULL) {
        abort();
    }
    for (int64_t s = 0; s < c->results; s++) {
        marks[c->ranking[s].position] = true;
    }
    return marks;
}

/* The first results of the ranking, by position. */
static run_result check_by_position(const row_check *c) {
    bool *marks = mark_results(c);
    run_result result = RUN_PASSED;
    for (int64_t s = 0, position = 0; s < c->results && result == RUN_PASSED; position++) {
        if (marks[position]) {
            const slot wanted = slot_of(c, position);
            result = same(&c->got[s], &wanted) ? RUN_PASSED : differs(c, s, &wanted);
            s++;
        }
    }
    free(marks);
    return result;
}

/* The results of the ranking in any order, known by their indices: each comes once, with its value. */
static run_result check_indices(const row_check *c) {
    bool *marks = mark_results(c);
    run_result result = RUN_PASSED;
    for (int64_t s = 0; s < c->results && result == RUN_PASSED; s++) {
        const int64_t position = instance_position(c->i, c->row, c->got[s].index);
        if (position < 0 || !marks[position]) {
            result = run_fail("row %" PRId64 " slot %" PRId64 ": index %" PRId64 " %s", c->number, s,
                              c->got[s].index,
                              position < 0 ? "is not of this row" : "is no result, or comes twice");
        } else {
            const slot wanted = slot_of(c, position);
            result = same(&c->got[s], &wanted) ? RUN_PASSED : differs(c, s, &wanted);
            marks[position] = false;
        }
    }
    free(marks);
    return result;
}

/* The same values in any order. */
static run_result check_values(const row_check *c) {
    slot *got = malloc(((size_t)c->results + 1) * sizeof *got);
    run_result result = RUN_PASSED;
    if (got == NULL) {
        abort();
    }
    for (int64_t s = 0; s < c->results; s++) {
        got[s] = c->got[s];
        c->wanted[s] = slot_of(c, c->ranking[s].position);
    }
    qsort(got, (size_t)c->results, sizeof *got, by_bits);
    qsort(c->wanted, (size_t)c->results, sizeof *c->wanted, by_bits);
    for (int64_t s = 0; s < c->results && result == RUN_PASSED; s++) {
        if (!same(&got[s], &c->wanted[s])) {
            result = run_fail("row %" PRId64 ": of the sorted results, number %" PRId64
                              " should be bits %#" PRIx64 ", is bits %#" PRIx64,
                              c->number, s, c->wanted[s].bits, got[s].bits);
        }
    }
    free(got);
    return result;
}

/* With ties free, the k-th's equals are interchangeable: what is taken must be distinct elements, all
 * that are better than the k-th among them, and no worse one. */
static run_result check_free_ties(const row_check *c, bool *taken) {
    const topk_problem *p = &c->i->problem;
    const oracle_number *kth = &c->ranking[c->results - 1].number;
    oracle_entry previous = c->ranking[0];
    int64_t better = 0;
    memset(taken, true, (size_t)c->row->extent.length * sizeof *taken); /* what may not be selected, too */
    for (int64_t s = 0; s < c->ranked; s++) {
        taken[c->ranking[s].position] = false;
    }
    for (int64_t s = 0; s < c->results; s++) {
        int64_t position = instance_position(c->i, c->row, c->got[s].index);
        if (position < 0 || taken[position]) {
            return run_fail("row %" PRId64 " slot %" PRId64 ": index %" PRId64 " %s", c->number, s,
                            c->got[s].index,
                            position < 0 ? "is not of this row" : "comes twice, or may not come");
        }
        taken[position] = true;
        if (wants_values(c->i) && c->got[s].bits != row_bits(c, position)) {
            return run_fail("row %" PRId64 " slot %" PRId64 ": index %" PRId64 " has another value",
                            c->number, s, c->got[s].index);
        }
        uint64_t bits = row_bits(c, position);
        oracle_entry entry = {oracle_decode(p->type, &bits), position};
        int to_kth = oracle_order(p, &entry.number, kth),
            to_previous = oracle_order(p, &previous.number, &entry.number);
        if (to_kth > 0) {
            return run_fail("row %" PRId64 " slot %" PRId64 ": worse than the k-th", c->number, s);
        }
        better += to_kth < 0;
        if (p->order == TOPK_ORDER_BEST_FIRST && s > 0 &&
            (to_previous > 0 || (to_previous == 0 && previous.position > position))) {
            return run_fail("row %" PRId64 " slot %" PRId64 ": out of order", c->number, s);
        }
        if (p->order == TOPK_ORDER_BY_POSITION && s > 0 && previous.position > position) {
            return run_fail("row %" PRId64 " slot %" PRId64 ": not by position", c->number, s);
        }
        previous = entry;
    }
    oracle_kth counts = oracle_kth_counts(p, c->ranking, c->ranked, c->results);
    return better == counts.better
               ? RUN_PASSED
               : run_fail("row %" PRId64 ": %" PRId64 " of %" PRId64 " better than the k-th taken", c->number,
                          better, counts.better);
}

/* With ties free and no indices to tell elements apart, only the classes of the values are known. */
static run_result check_classes(const row_check *c) {
    const topk_problem *p = &c->i->problem;
    oracle_entry *got = malloc(((size_t)c->results + 1) * sizeof *got);
    run_result result = RUN_PASSED;
    int64_t size = (int64_t)oracle_type_size(p->type);
    char *values = malloc(((size_t)c->results + 1) * (size_t)size);
    if (got == NULL || values == NULL) {
        abort();
    }
    for (int64_t s = 0; s < c->results; s++) {
        element_put_bits(p->type, values, s, c->got[s].bits);
        got[s].number = oracle_decode(p->type, values + s * size);
    }
    if (p->order != TOPK_ORDER_BEST_FIRST) {
        oracle_rank(p, values, c->results, got);
    }
    for (int64_t s = 0; s < c->results && result == RUN_PASSED; s++) {
        if (oracle_order(p, &got[s].number, &c->ranking[s].number) != 0) {
            result = run_fail("row %" PRId64 ": the value of rank %" PRId64 " is of the wrong class",
                              c->number, s);
        }
    }
    free(values);
    free(got);
    return result;
}

static run_result check_results(const row_check *c) {
    const topk_problem *p = &c->i->problem;
    if (p->ties == TOPK_TIES_LOWEST_INDEX) {
        return p->order == TOPK_ORDER_BEST_FIRST    ? check_exact(c)
               : p->order == TOPK_ORDER_BY_POSITION ? check_by_position(c)
               : wants_indices(c->i)                ? check_indices(c)
                                                    : check_values(c);
    }
    if (c->results == 0) {
        return RUN_PASSED;
    }
    if (!wants_indices(c->i)) {
        return check_classes(c);
    }
    bool *taken = malloc((size_t)c->row->extent.length * sizeof *taken);
    if (taken == NULL) {
        abort();
    }
    run_result result = check_free_ties(c, taken);
    free(taken);
    return result;
}

/* What the model of the approximation chooses, in its order: ties leave no freedom. */
static run_result check_approximate(const row_check *c) {
    row_check model = *c;
    oracle_entry *chosen = malloc(((size_t)c->results + 1) * sizeof *chosen);
    if (chosen == NULL) {
        abort();
    }
    (void)oracle_approximate(&c->i->approximate, c->ranking, c->ranked, c->results, chosen, NULL);
    model.ranking = chosen;
    run_result result = check_exact(&model);
    free(chosen);
    return result;
}

static run_result check_row(const run *r, int64_t number, slot *scratch) {
    const instance *i = r->instance;
    const bool filtered = r->operation->operation == TOPK_OPERATION_SELECT_WHERE;
    const device_buffer *values = &r->outputs[0], *indices = &r->outputs[1];
    const topk_problem *p = &i->problem;
    const instance_row *row = &i->rows[number];
    row_check c = {.i = i, .row = row, .number = number, .got = scratch, .wanted = scratch + p->k_max};
    c.ranking = filtered ? row->matching : row->ranking;
    c.ranked = filtered ? row->matches : row->extent.length;
    c.results = row->extent.k < c.ranked ? row->extent.k : c.ranked;
    for (int64_t s = 0; s < p->k_max; s++) {
        scratch[s].index =
            wants_indices(i) ? instance_read_index(p, indices->seen, number * p->k_max + s) : 0;
        scratch[s].bits = wants_values(i) ? run_output_bits(p->type, values, number * p->k_max + s) : 0;
    }
    run_result results =
        r->operation->problem == PROBLEM_APPROXIMATE ? check_approximate(&c) : check_results(&c);
    return results == RUN_PASSED ? check_padding(&c) : results;
}

static void make_outputs(run *r) {
    const topk_problem *p = &r->problem;
    const int64_t slots = p->rows * p->k_max;
    r->outputs[0] = run_output(wants_values(r->instance), slots, oracle_type_size(p->type));
    r->outputs[1] = run_output(wants_indices(r->instance), slots, instance_index_bytes(p));
}

static topk_status call_select(topk_context *context, run *r, const topk_input *input) {
    return topk_select(context, &r->problem, input, r->outputs[0].data, r->outputs[1].data, r->workspace.data,
                       r->workspace.bytes, device_stream());
}

static topk_status call_select_where(topk_context *context, run *r, const topk_input *input) {
    return topk_select_where(context, &r->problem, input, &r->predicate, r->outputs[0].data,
                             r->outputs[1].data, r->workspace.data, r->workspace.bytes, device_stream());
}

static void give_select(const run *r, topk_input *input, topk_output *output) {
    (void)input;
    output->values = r->outputs[0].data;
    output->indices = r->outputs[1].data;
}

static void give_select_where(const run *r, topk_input *input, topk_output *output) {
    give_select(r, input, output);
    input->predicate = &r->predicate;
}

run_result run_check_selected(const run *r, int64_t first, int64_t end) {
    slot *scratch = malloc((2 * (size_t)r->problem.k_max + 1) * sizeof *scratch);
    run_result result = RUN_PASSED;
    if (scratch == NULL) {
        abort();
    }
    for (int64_t row = first; row < end && result == RUN_PASSED; row++) {
        result = check_row(r, row, scratch);
    }
    free(scratch);
    return result;
}

static run_result judge(const run *r) {
    return run_check_selected(r, 0, r->problem.rows);
}

static void end(run *r) {
    (void)r;
}

const run_operation run_select = {
    "select", TOPK_OPERATION_SELECT, make_outputs, call_select, give_select, judge, end, PROBLEM_PLAIN};
const run_operation run_select_where = {"select_where",
                                        TOPK_OPERATION_SELECT_WHERE,
                                        make_outputs,
                                        call_select_where,
                                        give_select_where,
                                        judge,
                                        end,
                                        PROBLEM_PLAIN};
const run_operation run_approximate = {"approximate", TOPK_OPERATION_SELECT, make_outputs,
                                       call_select,   give_select,           judge,
                                       end,           PROBLEM_APPROXIMATE};
const run_operation run_approximate_where = {"approximate_where",
                                             TOPK_OPERATION_SELECT_WHERE,
                                             make_outputs,
                                             call_select_where,
                                             give_select_where,
                                             judge,
                                             end,
                                             PROBLEM_APPROXIMATE};
