/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include "../base/alloc.h"
#include "../base/fail.h"

static void check(topk_status status) {
    if (status != TOPK_OK)
        fail_library();
}

void session_begin(struct session *session, const struct options *options) {
    *session = (struct session){0};
    check(topk_context_create(&options->context, &session->context));
}

void session_end(struct session *session) {
    topk_context_destroy(session->context);
    release(session->workspace);
}

topk_problem session_problem(const struct options *options, topk_type type, int64_t rows, int64_t length,
                             int64_t k) {
    topk_problem problem = options->problem;
    problem.type = type;
    problem.index_type = TOPK_INDEX_I64;
    problem.rows = rows;
    problem.length_max = length;
    problem.k_max = k;
    return problem;
}

static topk_input input_of(const void *elements) {
    topk_input input = TOPK_INPUT_INIT;
    input.values = elements;
    return input;
}

static void reserve(struct session *session, topk_operation operation, const topk_problem *problem) {
    size_t bytes;
    check(topk_workspace_size(session->context, operation, problem, &bytes));
    if (bytes <= session->workspace_bytes)
        return;
    release(session->workspace);
    session->workspace = allocate(bytes, 1);
    session->workspace_bytes = bytes;
}

void session_select(struct session *session, const topk_problem *problem, const void *elements, void *values,
                    int64_t *indices) {
    topk_input input = input_of(elements);
    reserve(session, TOPK_OPERATION_SELECT, problem);
    check(topk_select(session->context, problem, &input, values, indices, session->workspace,
                      session->workspace_bytes, NULL));
}

void session_kth(struct session *session, const topk_problem *problem, const void *elements, void *kth,
                 int64_t *better, int64_t *equal) {
    topk_input input = input_of(elements);
    reserve(session, TOPK_OPERATION_KTH, problem);
    check(topk_kth(session->context, problem, &input, kth, better, equal, session->workspace,
                   session->workspace_bytes, NULL));
}

void session_where(struct session *session, const topk_problem *problem, const void *elements,
                   const topk_predicate *predicate, void *values, int64_t *indices, int64_t capacity,
                   int64_t *offsets) {
    topk_input input = input_of(elements);
    reserve(session, TOPK_OPERATION_WHERE, problem);
    check(topk_where(session->context, problem, &input, predicate, values, indices, capacity, offsets,
                     session->workspace, session->workspace_bytes, NULL));
}

void stream_begin(struct stream *stream, struct session *session, const topk_problem *problem) {
    *stream = (struct stream){.session = session, .problem = *problem};
    check(topk_accumulator_size(session->context, problem, &stream->state_bytes));
    stream->state = allocate(stream->state_bytes, 1);
    stream_reset(stream);
}

void stream_reset(struct stream *stream) {
    check(topk_accumulator_init(stream->session->context, &stream->problem, stream->state,
                                stream->state_bytes, NULL));
}

void stream_push(struct stream *stream, const void *elements, int64_t length, int64_t base) {
    topk_input chunk = input_of(elements);
    check(topk_accumulator_push(stream->session->context, &stream->problem, stream->state,
                                stream->state_bytes, &chunk, length, base, NULL));
}

void stream_peek(struct stream *stream, void *values, int64_t *indices) {
    check(topk_accumulator_peek(stream->session->context, &stream->problem, stream->state,
                                stream->state_bytes, values, indices, NULL));
}

void stream_end(struct stream *stream) {
    release(stream->state);
}
