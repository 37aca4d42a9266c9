/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/call.h"

static topk_problem describe(const bench_point *point) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = point->type;
    problem.index_type = point->index_type;
    problem.direction = point->direction;
    problem.ties = point->ties;
    problem.order = point->order;
    problem.nan = point->nan;
    problem.rows = point->rows;
    problem.length_max = point->n;
    problem.k_max = point->k;
    problem.method = point->method[0] != '\0' ? point->method : NULL;
    return problem;
}

topk_status bench_call_make(bench_call *call, topk_context *context, const bench_point *point,
                            const bench_truth *truth, bench_outputs *outputs) {
    static const topk_predicate_kind kinds[] = {TOPK_GT, TOPK_LE, TOPK_BYTE_MASK, TOPK_BIT_MASK};
    const topk_predicate none = TOPK_PREDICATE_INIT;
    *call = (bench_call){.context = context, .problem = describe(point), .predicate = none, .point = point};
    call->outputs = outputs;
    call->predicate.kind = kinds[point->predicate];
    call->predicate.low = truth->bound;
    if (bench_settings_read(point->tuning, point->n, call->tuning)) {
        call->problem.tuning = call->tuning;
    }
    return topk_workspace_size(context, point->operation, &call->problem, &call->workspace_bytes);
}

bool bench_call_run(void *state, const void *input) {
    const bench_call *call = state;
    const bench_outputs *out = call->outputs;
    topk_input data = TOPK_INPUT_INIT;
    data.values = input;
    switch (call->point->operation) {
    case TOPK_OPERATION_SELECT:
        return topk_select(call->context, &call->problem, &data, out->values, out->indices, call->workspace,
                           call->workspace_bytes, call->stream) == TOPK_OK;
    case TOPK_OPERATION_KTH:
        return topk_kth(call->context, &call->problem, &data, out->kth, out->better, out->equal,
                        call->workspace, call->workspace_bytes, call->stream) == TOPK_OK;
    case TOPK_OPERATION_SELECT_WHERE:
        return topk_select_where(call->context, &call->problem, &data, &call->predicate, out->values,
                                 out->indices, call->workspace, call->workspace_bytes,
                                 call->stream) == TOPK_OK;
    case TOPK_OPERATION_COUNT:
        return topk_count(call->context, &call->problem, &data, &call->predicate, out->counts,
                          call->workspace, call->workspace_bytes, call->stream) == TOPK_OK;
    case TOPK_OPERATION_MASK:
        return topk_mask(call->context, &call->problem, &data, &call->predicate, out->mask, call->workspace,
                         call->workspace_bytes, call->stream) == TOPK_OK;
    default:
        return topk_where(call->context, &call->problem, &data, &call->predicate, out->values, out->indices,
                          out->capacity, out->offsets, call->workspace, call->workspace_bytes,
                          call->stream) == TOPK_OK;
    }
}
