/* SPDX-License-Identifier: Apache-2.0
 * Entry points: validate, choose, run. */
#include "choose.h"
#include "status.h"
#include "workspace.h"

topk_status topk_workspace_size(const topk_context *context, topk_operation operation,
                                const topk_problem *problem, size_t *bytes) {
    KEEP_ERRNO;
    struct plan plan;
    struct room room;
    struct candidate chosen;
    room.used = 0;
    if (bytes == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "bytes is NULL");
    }
    const topk_status status = topk_prepare(context, operation, problem, &plan, &room, &chosen);
    if (status == TOPK_OK) {
        *bytes = chosen.decision.workspace_bytes;
    }
    return status;
}

enum { BUFFERS_MAX = INPUT_BUFFERS + 6 };

/* A call on its way: `call` is filled, and its buffers are listed, step by step. */
struct entry {
    struct plan plan;
    struct room *room; /* apart, so that it is not cleared */
    struct candidate chosen;
    topk_predicate predicate;
    topk_routing routing;
    struct call call;
    struct buffer buffers[BUFFERS_MAX];
    size_t buffer_count;
};

static topk_status check_workspace(const struct candidate *chosen, size_t workspace_bytes) {
    return workspace_bytes >= chosen->decision.workspace_bytes
               ? TOPK_OK
               : topk_fail(TOPK_ERROR_WORKSPACE_TOO_SMALL,
                           "the workspace has %zu bytes, method '%s' needs %zu", workspace_bytes,
                           chosen->method->name, chosen->decision.workspace_bytes);
}

/* What all entry points begin with: a plan, a method, and a call whose inputs are copied and listed. */
static topk_status begin(struct entry *entry, topk_context *context, topk_operation operation,
                         const topk_problem *problem, const topk_input *input, bool reads_values,
                         size_t workspace_bytes, topk_stream stream) {
    struct plan *plan = &entry->plan;
    entry->room->used = 0;
    topk_status status = topk_prepare(context, operation, problem, plan, entry->room, &entry->chosen);
    if (status != TOPK_OK || (status = topk_check_stream(context, stream)) != TOPK_OK ||
        (status = topk_check_input(plan, input, reads_values, &entry->call.input, entry->buffers)) !=
            TOPK_OK) {
        return status;
    }
    entry->buffer_count = INPUT_BUFFERS;
    entry->call.context = context;
    entry->call.plan = plan;
    entry->call.decision = &entry->chosen.decision;
    entry->call.stream = stream;
    return check_workspace(&entry->chosen, workspace_bytes);
}

/* Copies the predicate; before begin(), which may have to know of it. */
static topk_status begin_predicate(struct entry *entry, const topk_predicate *predicate) {
    entry->call.predicate = &entry->predicate;
    return topk_check_predicate(predicate, &entry->predicate);
}

static void list_buffer(struct entry *entry, struct buffer buffer) {
    entry->buffers[entry->buffer_count++] = buffer;
}

static void list_output(struct entry *entry, const char *name, const void *data, size_t count,
                        size_t element_bytes) {
    list_buffer(entry, (struct buffer){name, data, count * element_bytes, element_bytes, false, true});
}

static topk_status list_predicate(struct entry *entry) {
    struct buffer *buffers = entry->buffers + entry->buffer_count;
    entry->buffer_count += PREDICATE_BUFFERS;
    return topk_list_predicate(&entry->plan, &entry->predicate, buffers);
}

/* What all entry points end with: the workspace joins the buffers, which are checked; then the method
 * runs, if there is anything to do. */
static topk_status finish(struct entry *entry, void *workspace, bool anything) {
    entry->call.workspace = workspace;
    list_buffer(entry, (struct buffer){"workspace", workspace, entry->chosen.decision.workspace_bytes, 1,
                                       true, true});
    topk_status status = topk_check_buffers(entry->buffers, entry->buffer_count);
    if (status == TOPK_OK && anything) {
        status = entry->call.context->backend->run(entry->chosen.method, &entry->call);
        topk_gaps_release(workspace, entry->chosen.decision.workspace_bytes);
    }
    return status;
}

/* The end of topk_select() and topk_select_where(). */
static topk_status finish_select(struct entry *entry, void *values, void *indices, void *workspace) {
    const struct plan *plan = &entry->plan;
    entry->call.values = values;
    entry->call.indices = indices;
    list_output(entry, "values", values, plan->output_elements, plan->element_bytes);
    list_output(entry, "indices", indices, plan->output_elements, plan->index_bytes);
    return finish(entry, workspace, plan->output_elements > 0);
}

topk_status topk_select(topk_context *context, const topk_problem *problem, const topk_input *input,
                        void *values, void *indices, void *workspace, size_t workspace_bytes,
                        topk_stream stream) {
    KEEP_ERRNO;
    struct room room;
    struct entry entry = {.room = &room};
    const topk_status status =
        begin(&entry, context, TOPK_OPERATION_SELECT, problem, input, true, workspace_bytes, stream);
    return status != TOPK_OK ? status : finish_select(&entry, values, indices, workspace);
}

topk_status topk_kth(topk_context *context, const topk_problem *problem, const topk_input *input, void *kth,
                     int64_t *better, int64_t *equal, void *workspace, size_t workspace_bytes,
                     topk_stream stream) {
    KEEP_ERRNO;
    struct room room;
    struct entry entry = {.room = &room, .call = {.values = kth, .better = better, .equal = equal}};
    const topk_status status =
        begin(&entry, context, TOPK_OPERATION_KTH, problem, input, true, workspace_bytes, stream);
    if (status != TOPK_OK) {
        return status;
    }
    const size_t rows = (size_t)entry.plan.problem.rows;
    list_output(&entry, "kth", kth, rows, entry.plan.element_bytes);
    list_output(&entry, "better", better, rows, sizeof *better);
    list_output(&entry, "equal", equal, rows, sizeof *equal);
    return finish(&entry, workspace, rows > 0);
}

topk_status topk_select_where(topk_context *context, const topk_problem *problem, const topk_input *input,
                              const topk_predicate *predicate, void *values, void *indices, void *workspace,
                              size_t workspace_bytes, topk_stream stream) {
    KEEP_ERRNO;
    struct room room;
    struct entry entry = {.room = &room};
    topk_status status = begin_predicate(&entry, predicate);
    if (status != TOPK_OK ||
        (status = begin(&entry, context, TOPK_OPERATION_SELECT_WHERE, problem, input, true, workspace_bytes,
                        stream)) != TOPK_OK ||
        (status = list_predicate(&entry)) != TOPK_OK) {
        return status;
    }
    return finish_select(&entry, values, indices, workspace);
}

topk_status topk_where(topk_context *context, const topk_problem *problem, const topk_input *input,
                       const topk_predicate *predicate, void *values, void *indices, int64_t capacity,
                       int64_t *offsets, void *workspace, size_t workspace_bytes, topk_stream stream) {
    KEEP_ERRNO;
    struct room room;
    struct entry entry = {
        .room = &room,
        .call = {.values = values, .indices = indices, .capacity = capacity, .offsets = offsets}};
    bool overflow = false;
    topk_status status = begin_predicate(&entry, predicate);
    if (status != TOPK_OK) {
        return status;
    }
    if (capacity < 0) {
        return topk_fail(TOPK_ERROR_OUT_OF_RANGE, "capacity is %lld, must not be negative",
                         (long long)capacity);
    }
    const bool reads_values = predicate_compares(entry.predicate.kind) || values != NULL;
    status =
        begin(&entry, context, TOPK_OPERATION_WHERE, problem, input, reads_values, workspace_bytes, stream);
    if (status != TOPK_OK) {
        return status;
    }
    (void)topk_checked_bytes(capacity, 8, &overflow);
    if (overflow && (values != NULL || indices != NULL)) {
        return topk_fail(TOPK_ERROR_OVERFLOW, "outputs of capacity %lld exceed 2^63 bytes",
                         (long long)capacity);
    }
    if ((status = list_predicate(&entry)) != TOPK_OK) {
        return status;
    }
    list_output(&entry, "values", values, (size_t)capacity, entry.plan.element_bytes);
    list_output(&entry, "indices", indices, (size_t)capacity, entry.plan.index_bytes);
    list_output(&entry, "offsets", offsets, (size_t)entry.plan.problem.rows + 1, sizeof *offsets);
    return finish(&entry, workspace, true);
}

/* topk_count() and topk_mask() up to their one output, which they must be given. */
static topk_status begin_reading(struct entry *entry, topk_context *context, topk_operation operation,
                                 const topk_problem *problem, const topk_input *input,
                                 const topk_predicate *predicate, size_t workspace_bytes,
                                 topk_stream stream) {
    topk_status status = begin_predicate(entry, predicate);
    if (status != TOPK_OK) {
        return status;
    }
    status = begin(entry, context, operation, problem, input, predicate_compares(entry->predicate.kind),
                   workspace_bytes, stream);
    return status != TOPK_OK ? status : list_predicate(entry);
}

topk_status topk_count(topk_context *context, const topk_problem *problem, const topk_input *input,
                       const topk_predicate *predicate, int64_t *counts, void *workspace,
                       size_t workspace_bytes, topk_stream stream) {
    KEEP_ERRNO;
    struct room room;
    struct entry entry = {.room = &room, .call = {.counts = counts}};
    const topk_status status = begin_reading(&entry, context, TOPK_OPERATION_COUNT, problem, input, predicate,
                                             workspace_bytes, stream);
    if (status != TOPK_OK) {
        return status;
    }
    const size_t rows = (size_t)entry.plan.problem.rows;
    list_buffer(&entry, (struct buffer){"counts", counts, rows * sizeof *counts, sizeof *counts, true, true});
    return finish(&entry, workspace, rows > 0);
}

topk_status topk_mask(topk_context *context, const topk_problem *problem, const topk_input *input,
                      const topk_predicate *predicate, void *mask, void *workspace, size_t workspace_bytes,
                      topk_stream stream) {
    KEEP_ERRNO;
    struct room room;
    struct entry entry = {.room = &room, .call = {.mask = mask}};
    const topk_status status = begin_reading(&entry, context, TOPK_OPERATION_MASK, problem, input, predicate,
                                             workspace_bytes, stream);
    if (status != TOPK_OK) {
        return status;
    }
    const size_t bytes = bit_mask_bytes(entry.plan.input_elements);
    list_buffer(&entry, (struct buffer){"mask", mask, bytes, 1, true, true});
    return finish(&entry, workspace, bytes > 0);
}

topk_status topk_route(topk_context *context, const topk_problem *problem, const topk_routing *routing,
                       const void *logits, void *indices, float *weights, void *workspace,
                       size_t workspace_bytes, topk_stream stream) {
    KEEP_ERRNO;
    struct room room;
    struct entry entry = {.room = &room, .call = {.indices = indices, .weights = weights}};
    topk_input input = TOPK_INPUT_INIT;
    input.values = logits;
    topk_status status =
        begin(&entry, context, TOPK_OPERATION_ROUTE, problem, &input, true, workspace_bytes, stream);
    if (status != TOPK_OK ||
        (status = topk_check_routing(&entry.plan.problem, routing, &entry.routing)) != TOPK_OK) {
        return status;
    }
    const struct plan *plan = &entry.plan;
    const size_t experts = (size_t)plan->problem.length_max;
    entry.call.routing = &entry.routing;
    entry.buffers[0].name = "logits"; /* the only one of the input */
    list_buffer(&entry, (struct buffer){"routing->bias", entry.routing.bias, experts * sizeof(float),
                                        sizeof(float), false, false});
    list_output(&entry, "indices", indices, plan->output_elements, plan->index_bytes);
    list_output(&entry, "weights", weights, plan->output_elements, sizeof *weights);
    return finish(&entry, workspace, plan->output_elements > 0);
}
