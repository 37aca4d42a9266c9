/* SPDX-License-Identifier: Apache-2.0
 * Entry points: validate, choose, run. */
#include <string.h>

#include "choose.h"
#include "status.h"

topk_status topk_workspace_size(const topk_context *context, topk_operation operation,
                                const topk_problem *problem, size_t *bytes) {
    struct plan plan;
    struct candidate chosen;
    if (bytes == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "bytes is NULL");
    }
    const topk_status status = topk_prepare(context, operation, problem, &plan, &chosen);
    if (status == TOPK_OK) {
        *bytes = chosen.workspace_bytes;
    }
    return status;
}

static topk_status check_workspace(const struct candidate *chosen, size_t workspace_bytes) {
    return workspace_bytes >= chosen->workspace_bytes
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_WORKSPACE_TOO_SMALL,
                           "the workspace has %zu bytes, method '%s' needs %zu", workspace_bytes,
                           chosen->method->name, chosen->workspace_bytes);
}

static topk_status check_stream(const topk_context *context, topk_stream stream) {
    return stream == NULL || context->kind == TOPK_BACKEND_CUDA
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_UNSUPPORTED, "stream must be NULL on the CPU");
}

/* What all entry points begin with: a plan, a method, and a call whose input is copied and listed in
 * `buffers`; outputs are still to be checked. */
static topk_status begin(const topk_context *context, topk_operation operation, const topk_problem *problem,
                         const topk_input *input, bool reads_values, size_t workspace_bytes,
                         topk_stream stream, struct plan *plan, struct candidate *chosen, struct call *call,
                         struct buffer *buffers) {
    topk_status status = topk_prepare(context, operation, problem, plan, chosen);
    if (status != TOPK_OK || (status = check_stream(context, stream)) != TOPK_OK ||
        (status = topk_check_input(plan, input, reads_values, &call->input, buffers)) != TOPK_OK) {
        return status;
    }
    call->context = context;
    call->plan = plan;
    call->stream = stream;
    return check_workspace(chosen, workspace_bytes);
}

topk_status topk_select(topk_context *context, const topk_problem *problem, const topk_input *input,
                        void *values, void *indices, void *workspace, size_t workspace_bytes,
                        topk_stream stream) {
    struct plan plan;
    struct candidate chosen;
    struct buffer buffers[INPUT_BUFFERS + 3];
    struct call call = {.workspace = workspace, .values = values, .indices = indices};
    topk_status status = begin(context, TOPK_OPERATION_SELECT, problem, input, true, workspace_bytes, stream,
                               &plan, &chosen, &call, buffers);
    if (status != TOPK_OK) {
        return status;
    }
    struct buffer *outputs = buffers + INPUT_BUFFERS;
    outputs[0] = (struct buffer){"values",           values, plan.output_elements * plan.element_bytes,
                                 plan.element_bytes, false,  true};
    outputs[1] = (struct buffer){"indices",        indices, plan.output_elements * plan.index_bytes,
                                 plan.index_bytes, false,   true};
    outputs[2] = (struct buffer){"workspace", workspace, chosen.workspace_bytes, 1, true, true};
    status = topk_check_buffers(buffers, INPUT_BUFFERS + 3);
    return status != TOPK_OK || plan.output_elements == 0 ? status : chosen.method->run(&call);
}

topk_status topk_kth(topk_context *context, const topk_problem *problem, const topk_input *input, void *kth,
                     int64_t *better, int64_t *equal, void *workspace, size_t workspace_bytes,
                     topk_stream stream) {
    struct plan plan;
    struct candidate chosen;
    struct buffer buffers[INPUT_BUFFERS + 4];
    struct call call = {.workspace = workspace, .values = kth, .better = better, .equal = equal};
    topk_status status = begin(context, TOPK_OPERATION_KTH, problem, input, true, workspace_bytes, stream,
                               &plan, &chosen, &call, buffers);
    if (status != TOPK_OK) {
        return status;
    }
    const size_t rows = (size_t)plan.problem.rows;
    struct buffer *outputs = buffers + INPUT_BUFFERS;
    outputs[0] = (struct buffer){"kth", kth, rows * plan.element_bytes, plan.element_bytes, false, true};
    outputs[1] = (struct buffer){"better", better, rows * sizeof *better, sizeof *better, false, true};
    outputs[2] = (struct buffer){"equal", equal, rows * sizeof *equal, sizeof *equal, false, true};
    outputs[3] = (struct buffer){"workspace", workspace, chosen.workspace_bytes, 1, true, true};
    status = topk_check_buffers(buffers, INPUT_BUFFERS + 4);
    return status != TOPK_OK || rows == 0 ? status : chosen.method->run(&call);
}

/* The buffers that a predicate reads. */
static void predicate_buffers(const struct plan *plan, const topk_predicate *predicate,
                              struct buffer *buffers) {
    const size_t elements = plan->input_elements;
    const bool byte_mask = predicate->kind == TOPK_BYTE_MASK, bit_mask = predicate->kind == TOPK_BIT_MASK;
    const size_t mask_bytes = byte_mask ? elements : bit_mask ? elements / 8 + (elements % 8 != 0) : 0;
    const size_t bounds = predicate->kind == TOPK_BETWEEN ? 2 : 1;
    buffers[0] = (struct buffer){"predicate->mask", predicate->mask, mask_bytes, 1, true, false};
    buffers[1] = (struct buffer){"predicate->bounds",
                                 predicate->bounds,
                                 bounds * sizeof(topk_bound),
                                 _Alignof(topk_bound),
                                 false,
                                 false};
}

topk_status topk_where(topk_context *context, const topk_problem *problem, const topk_input *input,
                       const topk_predicate *predicate, void *values, void *indices, int64_t capacity,
                       int64_t *offsets, void *workspace, size_t workspace_bytes, topk_stream stream) {
    struct plan plan;
    struct candidate chosen;
    topk_predicate known;
    struct buffer buffers[INPUT_BUFFERS + 6];
    bool overflow = false;
    topk_status status = topk_check_predicate(predicate, &known);
    if (status != TOPK_OK) {
        return status;
    }
    if (capacity < 0) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "capacity is %lld, must not be negative",
                         (long long)capacity);
    }
    struct call call = {.workspace = workspace,
                        .values = values,
                        .indices = indices,
                        .predicate = &known,
                        .capacity = capacity,
                        .offsets = offsets};
    const bool reads_values = predicate_compares(known.kind) || values != NULL;
    status = begin(context, TOPK_OPERATION_WHERE, problem, input, reads_values, workspace_bytes, stream,
                   &plan, &chosen, &call, buffers);
    if (status != TOPK_OK) {
        return status;
    }
    struct buffer *more = buffers + INPUT_BUFFERS;
    predicate_buffers(&plan, &known, more);
    more[2] = (struct buffer){
        "values",           values, topk_checked_bytes(capacity, plan.element_bytes, &overflow),
        plan.element_bytes, false,  true};
    more[3] =
        (struct buffer){"indices",        indices, topk_checked_bytes(capacity, plan.index_bytes, &overflow),
                        plan.index_bytes, false,   true};
    more[4] = (struct buffer){"offsets",       offsets, ((size_t)plan.problem.rows + 1) * sizeof *offsets,
                              sizeof *offsets, false,   true};
    more[5] = (struct buffer){"workspace", workspace, chosen.workspace_bytes, 1, true, true};
    if (overflow && (values != NULL || indices != NULL)) {
        return topk_fail(TOPK_ERROR_OVERFLOW, "outputs of capacity %lld exceed 2^63 bytes",
                         (long long)capacity);
    }
    status = topk_check_buffers(buffers, INPUT_BUFFERS + 6);
    return status != TOPK_OK ? status : chosen.method->run(&call);
}
