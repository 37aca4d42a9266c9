/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "elements.h"
#include "run.h"

/* The elements of a row that count, best first. */
typedef struct ranked {
    const oracle_entry *ranking;
    int64_t count;
} ranked;

static ranked all_of(const instance_row *row) {
    return (ranked){row->ranking, row->extent.length};
}

static uint64_t wanted_class(const instance *i, const instance_row *row, ranked of) {
    const topk_problem *p = &i->problem;
    uint64_t bits = 0;
    if (row->extent.k == 0 || row->extent.k > of.count) {
        oracle_write_padding(p->type, p->direction, &bits);
    } else {
        int64_t element = row->extent.first + of.ranking[row->extent.k - 1].position;
        oracle_write_class(p->type, p->rank,
                           (const char *)i->input.values + (size_t)element * oracle_type_size(p->type),
                           &bits);
    }
    return element_get_bits(p->type, &bits, 0);
}

static oracle_kth wanted_counts(const instance *i, const instance_row *row, ranked of) {
    if (row->extent.k == 0) {
        return (oracle_kth){0, 0};
    }
    if (row->extent.k > of.count) {
        return (oracle_kth){of.count, 0};
    }
    return oracle_kth_counts(&i->problem, of.ranking, of.count, row->extent.k);
}

static run_result check_kth(const instance *i, int64_t r, const instance_row *row, ranked of, uint64_t kth,
                            int64_t better, int64_t equal) {
    const oracle_kth counts = wanted_counts(i, row, of);
    if (kth != wanted_class(i, row, of)) {
        return run_fail("row %" PRId64 " k %" PRId64 ": expected class %#" PRIx64 ", got %#" PRIx64, r,
                        row->extent.k, wanted_class(i, row, of), kth);
    }
    const int64_t wanted[] = {counts.better, counts.equal}, got[] = {better, equal};
    for (int o = 0; o < 2; o++) {
        if (got[o] != wanted[o]) {
            return run_fail("row %" PRId64 " k %" PRId64 ": expected %s %" PRId64 ", got %" PRId64, r,
                            row->extent.k, o == 0 ? "better" : "equal", wanted[o], got[o]);
        }
    }
    return RUN_PASSED;
}

run_result run_check_kth(const instance *i, int64_t r, const instance_row *row, uint64_t kth, int64_t better,
                         int64_t equal) {
    return check_kth(i, r, row, all_of(row), kth, better, equal);
}

/* Slot `slot` of the outputs, for row number r. An output that is not wanted counts as right. */
static run_result check_slot(const run *ended, int64_t r, const instance_row *row, int64_t slot) {
    const instance *i = ended->instance;
    const bool filtered = ended->operation->operation == TOPK_OPERATION_KTH_WHERE;
    const ranked of = filtered ? (ranked){row->matching, row->matches} : all_of(row);
    const device_buffer *outputs = ended->outputs;
    const oracle_kth counts = wanted_counts(i, row, of);
    const int64_t *const better = outputs[1].seen, *const equal = outputs[2].seen;
    return check_kth(i, r, row, of,
                     outputs[0].data != NULL ? run_output_bits(i->problem.type, &outputs[0], slot)
                                             : wanted_class(i, row, of),
                     outputs[1].data != NULL ? better[slot] : counts.better,
                     outputs[2].data != NULL ? equal[slot] : counts.equal);
}

static void make_outputs(run *r) {
    const instance *i = r->instance;
    r->outputs[0] = run_output(wants_values(i), i->problem.rows, oracle_type_size(i->problem.type));
    r->outputs[1] = run_output(wants_indices(i), i->problem.rows, sizeof(int64_t));
    r->outputs[2] = run_output(true, i->problem.rows, sizeof(int64_t));
}

static topk_status call(topk_context *context, run *r, const topk_input *input) {
    return topk_kth(context, &r->problem, input, r->outputs[0].data, r->outputs[1].data, r->outputs[2].data,
                    r->workspace.data, r->workspace.bytes, device_stream());
}

static topk_status call_where(topk_context *context, run *r, const topk_input *input) {
    return topk_kth_where(context, &r->problem, input, &r->predicate, r->outputs[0].data, r->outputs[1].data,
                          r->outputs[2].data, r->workspace.data, r->workspace.bytes, device_stream());
}

static void give(const run *r, topk_input *input, topk_output *output) {
    (void)input;
    output->values = r->outputs[0].data;
    output->better = r->outputs[1].data;
    output->equal = r->outputs[2].data;
}

static void give_where(const run *r, topk_input *input, topk_output *output) {
    give(r, input, output);
    input->predicate = &r->predicate;
}

static run_result judge(const run *r) {
    run_result result = RUN_PASSED;
    for (int64_t row = 0; row < r->problem.rows && result == RUN_PASSED; row++) {
        result = check_slot(r, row, &r->instance->rows[row], row);
    }
    return result;
}

static void end(run *r) {
    (void)r;
}

/* ---- Several ranks ---- */

static int64_t slots_of(const run *r) {
    return r->problem.rows * r->problem.ranks;
}

static void make_ranks_outputs(run *r) {
    const instance *i = r->instance;
    r->outputs[0] = run_output(wants_values(i), slots_of(r), oracle_type_size(i->problem.type));
    r->outputs[1] = run_output(wants_indices(i), slots_of(r), sizeof(int64_t));
    r->outputs[2] = run_output(true, slots_of(r), sizeof(int64_t));
}

static topk_status call_ranks(topk_context *context, run *r, const topk_input *input) {
    topk_input with_ranks = *input;
    with_ranks.k = instance_ranks_k(r->instance);
    return call(context, r, &with_ranks);
}

static topk_status call_ranks_where(topk_context *context, run *r, const topk_input *input) {
    topk_input with_ranks = *input;
    with_ranks.k = instance_ranks_k(r->instance);
    return call_where(context, r, &with_ranks);
}

static void give_ranks(const run *r, topk_input *input, topk_output *output) {
    give(r, input, output);
    input->k = instance_ranks_k(r->instance);
}

static void give_ranks_where(const run *r, topk_input *input, topk_output *output) {
    give_where(r, input, output);
    input->k = instance_ranks_k(r->instance);
}

static run_result judge_ranks(const run *r) {
    run_result result = RUN_PASSED;
    for (int64_t slot = 0; slot < slots_of(r) && result == RUN_PASSED; slot++) {
        const int64_t row = slot / r->problem.ranks;
        instance_row asked = r->instance->rows[row];
        asked.extent.k = instance_rank(r->instance, row, slot % r->problem.ranks);
        result = check_slot(r, row, &asked, slot);
    }
    return result;
}

const run_operation run_kth = {"kth", TOPK_OPERATION_KTH, make_outputs, call, give, judge,
                               end,   PROBLEM_PLAIN};
const run_operation run_kth_where = {
    "kth_where", TOPK_OPERATION_KTH_WHERE, make_outputs, call_where, give_where, judge, end, PROBLEM_PLAIN};
const run_operation run_ranks = {.name = "ranks",
                                 .operation = TOPK_OPERATION_KTH,
                                 .make_outputs = make_ranks_outputs,
                                 .call = call_ranks,
                                 .give = give_ranks,
                                 .judge = judge_ranks,
                                 .end = end,
                                 .problem = PROBLEM_WITH_RANKS};
const run_operation run_ranks_where = {.name = "ranks_where",
                                       .operation = TOPK_OPERATION_KTH_WHERE,
                                       .make_outputs = make_ranks_outputs,
                                       .call = call_ranks_where,
                                       .give = give_ranks_where,
                                       .judge = judge_ranks,
                                       .end = end,
                                       .problem = PROBLEM_WITH_RANKS};
