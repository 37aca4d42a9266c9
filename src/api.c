/* SPDX-License-Identifier: Apache-2.0
 * Calls: they decide in their own frame, and run. */
#include "run.h"
#include "status.h"
#include "topk_groups.h"

topk_status topk_workspace_size(const topk_context *context, topk_operation operation,
                                const topk_problem *problem, size_t *bytes) {
    KEEP_ERRNO;
    struct decided decided;
    if (bytes == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "bytes is NULL");
    }
    const topk_status status = topk_decided_make(context, operation, problem, &decided);
    if (status == TOPK_OK) {
        *bytes = decided.chosen.decision.workspace_bytes;
    }
    return status;
}

topk_status topk_run(const topk_context *context, topk_operation operation, const topk_problem *problem,
                     const topk_input *input, const topk_output *output, void *workspace,
                     size_t workspace_bytes, topk_stream stream) {
    KEEP_ERRNO;
    struct decided decided;
    const topk_status status = topk_decided_make(context, operation, problem, &decided);
    return status != TOPK_OK ? status
                             : topk_run_decided(&decided, input, output, workspace, workspace_bytes, stream);
}

/* Functions of one operation each. */
static topk_status run(const topk_context *context, topk_operation operation, const topk_problem *problem,
                       const struct given *given, void *workspace, size_t workspace_bytes,
                       topk_stream stream) {
    KEEP_ERRNO;
    struct decided decided;
    const topk_status status = topk_decided_make(context, operation, problem, &decided);
    return status != TOPK_OK ? status : topk_run_given(&decided, given, workspace, workspace_bytes, stream);
}

topk_status topk_select(topk_context *context, const topk_problem *problem, const topk_input *input,
                        void *values, void *indices, void *workspace, size_t workspace_bytes,
                        topk_stream stream) {
    const struct given given = {.input = input, .output = {.values = values, .indices = indices}};
    return run(context, TOPK_OPERATION_SELECT, problem, &given, workspace, workspace_bytes, stream);
}

topk_status topk_kth(topk_context *context, const topk_problem *problem, const topk_input *input, void *kth,
                     int64_t *better, int64_t *equal, void *workspace, size_t workspace_bytes,
                     topk_stream stream) {
    const struct given given = {.input = input, .output = {.values = kth, .better = better, .equal = equal}};
    return run(context, TOPK_OPERATION_KTH, problem, &given, workspace, workspace_bytes, stream);
}

topk_status topk_where(topk_context *context, const topk_problem *problem, const topk_input *input,
                       const topk_predicate *predicate, void *values, void *indices, int64_t capacity,
                       int64_t *offsets, void *workspace, size_t workspace_bytes, topk_stream stream) {
    const struct given given = {
        .input = input,
        .predicate = predicate,
        .output = {.values = values, .indices = indices, .capacity = capacity, .offsets = offsets}};
    return run(context, TOPK_OPERATION_WHERE, problem, &given, workspace, workspace_bytes, stream);
}

topk_status topk_select_where(topk_context *context, const topk_problem *problem, const topk_input *input,
                              const topk_predicate *predicate, void *values, void *indices, void *workspace,
                              size_t workspace_bytes, topk_stream stream) {
    const struct given given = {
        .input = input, .predicate = predicate, .output = {.values = values, .indices = indices}};
    return run(context, TOPK_OPERATION_SELECT_WHERE, problem, &given, workspace, workspace_bytes, stream);
}

topk_status topk_kth_where(topk_context *context, const topk_problem *problem, const topk_input *input,
                           const topk_predicate *predicate, void *kth, int64_t *better, int64_t *equal,
                           void *workspace, size_t workspace_bytes, topk_stream stream) {
    const struct given given = {
        .input = input, .predicate = predicate, .output = {.values = kth, .better = better, .equal = equal}};
    return run(context, TOPK_OPERATION_KTH_WHERE, problem, &given, workspace, workspace_bytes, stream);
}

topk_status topk_count(topk_context *context, const topk_problem *problem, const topk_input *input,
                       const topk_predicate *predicate, int64_t *counts, void *workspace,
                       size_t workspace_bytes, topk_stream stream) {
    const struct given given = {.input = input, .predicate = predicate, .output = {.counts = counts}};
    return run(context, TOPK_OPERATION_COUNT, problem, &given, workspace, workspace_bytes, stream);
}

topk_status topk_mask(topk_context *context, const topk_problem *problem, const topk_input *input,
                      const topk_predicate *predicate, void *mask, void *workspace, size_t workspace_bytes,
                      topk_stream stream) {
    const struct given given = {.input = input, .predicate = predicate, .output = {.mask = mask}};
    return run(context, TOPK_OPERATION_MASK, problem, &given, workspace, workspace_bytes, stream);
}

topk_status topk_route(topk_context *context, const topk_problem *problem, const topk_routing *routing,
                       const void *logits, void *indices, float *weights, void *workspace,
                       size_t workspace_bytes, topk_stream stream) {
    topk_input input = TOPK_INPUT_INIT;
    input.values = logits;
    const struct given given = {
        .input = &input, .routing = routing, .output = {.indices = indices, .weights = weights}};
    return run(context, TOPK_OPERATION_ROUTE, problem, &given, workspace, workspace_bytes, stream);
}

topk_status topk_select_by(topk_context *context, const topk_problem *problem, const topk_input *input,
                           void *values, void *indices, int64_t *counts, void *workspace,
                           size_t workspace_bytes, topk_stream stream) {
    const struct given given = {.input = input,
                                .output = {.values = values, .indices = indices, .counts = counts}};
    return run(context, TOPK_OPERATION_SELECT_BY, problem, &given, workspace, workspace_bytes, stream);
}

topk_status topk_merge(topk_context *context, const topk_problem *problem, const topk_input *input,
                       const topk_lists *lists, void *values, void *indices, void *payload, void *workspace,
                       size_t workspace_bytes, topk_stream stream) {
    const struct given given = {
        .input = input, .lists = lists, .output = {.values = values, .indices = indices, .payload = payload}};
    return run(context, TOPK_OPERATION_MERGE, problem, &given, workspace, workspace_bytes, stream);
}
