/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <string.h>

#include "../base/alloc.h"
#include "../base/fail.h"
#include "device.h"
#include "topk_advanced.h"

/* Rows of up to so many elements the CPU searches for one rank after the other (docs/methods/ranks.md). Then
 * calls for one rank each take 0.8 times as long as one call for all, of 32768 rows of 1024 float32. */
enum { SHORT_ROW = 4096 };

static void check(topk_status status) {
    if (status != TOPK_OK)
        fail_library();
}

static topk_status create(struct session *session, const struct options *options, topk_backend backend) {
    topk_context_options context = options->context;
    context.backend = backend;
    context.device = backend == TOPK_BACKEND_CUDA ? options->context.device : 0;
    *session = (struct session){.host = session};
    const topk_status status = topk_simple_create(&context, &session->simple);
    session->context = topk_simple_context(session->simple);
    return status;
}

/* Whether the context's backend has the operation at all. */
static topk_status try_operation(const struct session *session, const struct options *options,
                                 topk_operation operation, topk_type type) {
    topk_problem problem = session_problem(options, type, 1, 1, 1);
    size_t bytes;
    return topk_workspace_size(session->context, operation, &problem, &bytes);
}

static topk_status create_cuda(struct session *session, const struct options *options,
                               topk_operation operation, topk_type type, uint64_t streamed_bytes) {
    struct early early;
    early_begin(&early, options->context.device, device_supported() ? streamed_bytes : 0);
    topk_status status = create(session, options, TOPK_BACKEND_CUDA);
    early_wait(&early);
    session->early = early;
    if (status == TOPK_OK)
        status = try_operation(session, options, operation, type);
    if (status != TOPK_OK)
        return status;
    device_use(options->context.device);
    session->staging.simple = session->simple;
    session->host = allocate(1, sizeof *session->host);
    check(create(session->host, options, TOPK_BACKEND_CPU));
    return TOPK_OK;
}

void session_begin(struct session *session, const struct options *options, topk_operation operation,
                   topk_type type, uint64_t streamed_bytes) {
    switch (options->context.backend) {
    case TOPK_BACKEND_CUDA:
        if (create_cuda(session, options, operation, type, streamed_bytes) != TOPK_OK)
            fail("--device cuda: %s", topk_last_error());
        return;
    case TOPK_BACKEND_AUTO:
        if (device_supported() && topk_backend_status(TOPK_BACKEND_CUDA) == TOPK_OK) {
            if (create_cuda(session, options, operation, type, streamed_bytes) == TOPK_OK)
                return;
            early_end(&session->early);
            topk_simple_destroy(session->simple);
        }
        break;
    default:
        break;
    }
    check(create(session, options, TOPK_BACKEND_CPU));
}

void session_check(const struct session *session, const struct options *options, topk_operation operation,
                   topk_type type) {
    check(try_operation(session, options, operation, type));
}

void session_choose_freely(topk_problem *problem) {
    problem->method = NULL;
    problem->tuning = NULL;
    problem->max_iterations = 0;
    problem->epsilon = problem->epsilon_relative = 0;
}

bool session_on_device(const struct session *session) {
    return session->host != session;
}

int session_threads(const struct session *session) {
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    check(topk_context_query(session->host->context, &properties));
    return properties.threads;
}

void session_end(struct session *session) {
    if (session_on_device(session)) {
        session_end(session->host);
        release(session->host);
        staging_end(&session->staging);
        early_end(&session->early);
    }
    topk_simple_destroy(session->simple);
}

int64_t session_piece_bytes(const struct session *session, const struct options *options, topk_type type) {
    if (!session_on_device(session))
        return options->piece_bytes;
    uint64_t most = staging_bytes_max(type);
    return (uint64_t)options->piece_bytes < most ? options->piece_bytes : (int64_t)most;
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

/* Elements and results are the host's. */
static void run(struct session *session, topk_operation operation, const topk_problem *problem,
                topk_input *input, const topk_predicate *predicate, const topk_output *output) {
    input->predicate = predicate;
    if (session_on_device(session)) {
        input->values = staging_upload(&session->staging, problem, input->values);
        check(staging_run(&session->staging, operation, problem, input, output));
    } else {
        check(topk_simple_run(session->simple, operation, problem, input, output, NULL));
    }
}

int64_t results_found(const int64_t *indices, int64_t slots) {
    while (slots > 0 && indices[slots - 1] < 0)
        slots--;
    return slots;
}

void session_select(struct session *host, const topk_problem *problem, const void *elements,
                    const topk_predicate *predicate, void *values, int64_t *indices) {
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    input.values = elements;
    output.values = values;
    output.indices = indices;
    run(host, selection_from(predicate), problem, &input, predicate, &output);
}

void session_rank(struct session *host, const topk_problem *problem, const void *elements,
                  const int64_t *positions, void *values, int64_t *indices) {
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    input.values = elements;
    input.indices = positions;
    output.values = values;
    output.indices = indices;
    run(host, TOPK_OPERATION_SELECT, problem, &input, NULL, &output);
}

void session_pad(struct session *session, const struct options *options, topk_type type, int64_t slots,
                 void *values, int64_t *indices) {
    topk_problem problem = session_problem(options, type, 1, 0, slots);
    session_choose_freely(&problem);
    session_rank(session->host, &problem, NULL, NULL, values, indices);
}

static topk_operation operation_kth(const topk_predicate *predicate) {
    return predicate == NULL ? TOPK_OPERATION_KTH : TOPK_OPERATION_KTH_WHERE;
}

void session_kth(struct session *session, const topk_problem *problem, const void *elements,
                 const topk_predicate *predicate, void *kth, int64_t *better, int64_t *equal) {
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    input.values = elements;
    output.values = kth;
    output.better = better;
    output.equal = equal;
    run(session, operation_kth(predicate), problem, &input, predicate, &output);
}

/* As session_kth_ranks() by a call for each rank. */
static void kth_one_by_one(struct session *session, const topk_problem *given, const topk_input *input,
                           const int64_t *ranks, int count, const topk_output *output) {
    const topk_operation operation = operation_kth(input->predicate);
    const size_t element = topk_type_size(given->type);
    const uint64_t rows = (uint64_t)given->rows;
    topk_problem problem = *given;
    topk_output column = TOPK_OUTPUT_INIT; /* of one rank */
    column.values = allocate(rows, element);
    column.better = allocate(rows, sizeof *column.better);
    column.equal = allocate(rows, sizeof *column.equal);
    for (int i = 0; i < count; i++) {
        problem.k_max = ranks[i];
        check(session_on_device(session)
                  ? staging_run(&session->staging, operation, &problem, input, &column)
                  : topk_simple_run(session->simple, operation, &problem, input, &column, NULL));
        for (uint64_t row = 0; row < rows; row++) {
            const uint64_t to = row * (uint64_t)count + (uint64_t)i;
            memcpy((char *)output->values + to * element, (char *)column.values + row * element, element);
            output->better[to] = column.better[row];
            output->equal[to] = column.equal[row];
        }
    }
    release(column.values);
    release(column.better);
    release(column.equal);
}

void session_kth_ranks(struct session *session, const topk_problem *given, const void *elements,
                       const topk_predicate *predicate, const int64_t *ranks, int count, void *kth,
                       int64_t *better, int64_t *equal) {
    topk_problem problem = *given;
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    input.values = elements;
    input.predicate = predicate;
    output.values = kth;
    output.better = better;
    output.equal = equal;
    if (session_on_device(session))
        input.values = staging_upload(&session->staging, &problem, elements);
    if (session_on_device(session) || problem.length_max <= SHORT_ROW) {
        kth_one_by_one(session, &problem, &input, ranks, count, &output);
        return;
    }
    problem.ranks = count;
    problem.k_max = 0;
    for (int i = 0; i < count; i++)
        problem.k_max = ranks[i] > problem.k_max ? ranks[i] : problem.k_max;
    input.k = ranks;
    check(topk_simple_run(session->simple, operation_kth(predicate), &problem, &input, &output, NULL));
}

void session_where(struct session *session, const topk_problem *problem, const void *elements,
                   const topk_predicate *predicate, void *values, int64_t *indices, int64_t capacity,
                   int64_t *offsets) {
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    input.values = elements;
    output.values = values;
    output.indices = indices;
    output.capacity = capacity;
    output.offsets = offsets;
    run(session, TOPK_OPERATION_WHERE, problem, &input, predicate, &output);
}

void session_count(struct session *session, const topk_problem *problem, const void *elements,
                   const topk_predicate *predicate, int64_t *counts) {
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    input.values = elements;
    output.counts = counts;
    run(session, TOPK_OPERATION_COUNT, problem, &input, predicate, &output);
}

void session_mask(struct session *session, const topk_problem *problem, const void *elements,
                  const topk_predicate *predicate, unsigned char *mask) {
    topk_input input = TOPK_INPUT_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    input.values = elements;
    output.mask = mask;
    run(session, TOPK_OPERATION_MASK, problem, &input, predicate, &output);
}
