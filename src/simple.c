/* SPDX-License-Identifier: Apache-2.0
 * The calls of topk.h with a workspace that grows. */
#include "topk_simple.h"

#include <stdlib.h>

#include "run.h"
#include "status.h"

struct topk_simple {
    topk_context *context;
    void *workspace;
    size_t workspace_bytes;
};

topk_status topk_simple_create(const topk_context_options *options, topk_simple **simple) {
    KEEP_ERRNO;
    if (simple == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "simple is NULL");
    }
    *simple = NULL;
    topk_simple *created = calloc(1, sizeof *created);
    if (created == NULL) {
        return topk_fail(TOPK_ERROR_OUT_OF_MEMORY, "cannot allocate %zu bytes", sizeof *created);
    }
    const topk_status status = topk_context_create(options, &created->context);
    if (status != TOPK_OK) {
        free(created);
        return status;
    }
    *simple = created;
    return TOPK_OK;
}

static topk_status release_workspace(topk_simple *simple) {
    if (simple->workspace != NULL) {
        const topk_status status = simple->context->backend->release(simple->context, simple->workspace);
        if (status != TOPK_OK) {
            return status;
        }
    }
    simple->workspace = NULL;
    simple->workspace_bytes = 0;
    return TOPK_OK;
}

void topk_simple_destroy(topk_simple *simple) {
    KEEP_ERRNO;
    if (simple != NULL) {
        (void)release_workspace(simple);
        topk_context_destroy(simple->context);
        free(simple);
    }
}

topk_context *topk_simple_context(const topk_simple *simple) {
    return simple == NULL ? NULL : simple->context;
}

/* The old workspace goes first, so that the two need not fit side by side. */
static topk_status reserve(topk_simple *simple, size_t bytes) {
    if (bytes <= simple->workspace_bytes) {
        return TOPK_OK;
    }
    topk_status status = release_workspace(simple);
    if (status == TOPK_OK) {
        status = simple->context->backend->allocate(simple->context, bytes, &simple->workspace);
        simple->workspace_bytes = status == TOPK_OK ? bytes : 0;
    }
    return status;
}

/* ---- Any problem ---- */

/* Decides, and has a workspace for it. */
static topk_status prepare(topk_simple *simple, topk_operation operation, const topk_problem *problem,
                           struct decided *decided) {
    if (simple == NULL) {
        return topk_fail(TOPK_ERROR_NULL_POINTER, "simple is NULL");
    }
    const topk_status status = topk_decided_make(simple->context, operation, problem, decided);
    return status != TOPK_OK ? status : reserve(simple, decided->chosen.decision.workspace_bytes);
}

topk_status topk_simple_run(topk_simple *simple, topk_operation operation, const topk_problem *problem,
                            const topk_input *input, const topk_output *output, topk_stream stream) {
    KEEP_ERRNO;
    struct decided decided;
    const topk_status status = prepare(simple, operation, problem, &decided);
    return status != TOPK_OK ? status
                             : topk_run_decided(&decided, input, output, simple->workspace,
                                                simple->workspace_bytes, stream);
}

static topk_status run(topk_simple *simple, topk_operation operation, const topk_problem *problem,
                       const struct given *given, topk_stream stream) {
    KEEP_ERRNO;
    struct decided decided;
    const topk_status status = prepare(simple, operation, problem, &decided);
    return status != TOPK_OK
               ? status
               : topk_run_given(&decided, given, simple->workspace, simple->workspace_bytes, stream);
}

topk_status topk_simple_run_select(topk_simple *simple, const topk_problem *problem, const topk_input *input,
                                   void *values, void *indices, topk_stream stream) {
    const struct given given = {.input = input, .output = {.values = values, .indices = indices}};
    return run(simple, TOPK_OPERATION_SELECT, problem, &given, stream);
}

topk_status topk_simple_run_kth(topk_simple *simple, const topk_problem *problem, const topk_input *input,
                                void *kth, int64_t *better, int64_t *equal, topk_stream stream) {
    const struct given given = {.input = input, .output = {.values = kth, .better = better, .equal = equal}};
    return run(simple, TOPK_OPERATION_KTH, problem, &given, stream);
}

topk_status topk_simple_run_where(topk_simple *simple, const topk_problem *problem, const topk_input *input,
                                  const topk_predicate *predicate, void *values, void *indices,
                                  int64_t capacity, int64_t *offsets, topk_stream stream) {
    const struct given given = {
        .input = input,
        .predicate = predicate,
        .output = {.values = values, .indices = indices, .capacity = capacity, .offsets = offsets}};
    return run(simple, TOPK_OPERATION_WHERE, problem, &given, stream);
}

topk_status topk_simple_run_select_where(topk_simple *simple, const topk_problem *problem,
                                         const topk_input *input, const topk_predicate *predicate,
                                         void *values, void *indices, topk_stream stream) {
    const struct given given = {
        .input = input, .predicate = predicate, .output = {.values = values, .indices = indices}};
    return run(simple, TOPK_OPERATION_SELECT_WHERE, problem, &given, stream);
}

topk_status topk_simple_run_kth_where(topk_simple *simple, const topk_problem *problem,
                                      const topk_input *input, const topk_predicate *predicate, void *kth,
                                      int64_t *better, int64_t *equal, topk_stream stream) {
    const struct given given = {
        .input = input, .predicate = predicate, .output = {.values = kth, .better = better, .equal = equal}};
    return run(simple, TOPK_OPERATION_KTH_WHERE, problem, &given, stream);
}

topk_status topk_simple_run_count(topk_simple *simple, const topk_problem *problem, const topk_input *input,
                                  const topk_predicate *predicate, int64_t *counts, topk_stream stream) {
    const struct given given = {.input = input, .predicate = predicate, .output = {.counts = counts}};
    return run(simple, TOPK_OPERATION_COUNT, problem, &given, stream);
}

topk_status topk_simple_run_mask(topk_simple *simple, const topk_problem *problem, const topk_input *input,
                                 const topk_predicate *predicate, void *mask, topk_stream stream) {
    const struct given given = {.input = input, .predicate = predicate, .output = {.mask = mask}};
    return run(simple, TOPK_OPERATION_MASK, problem, &given, stream);
}

topk_status topk_simple_run_route(topk_simple *simple, const topk_problem *problem,
                                  const topk_routing *routing, const void *logits, void *indices,
                                  float *weights, topk_stream stream) {
    topk_input input = TOPK_INPUT_INIT;
    input.values = logits;
    const struct given given = {
        .input = &input, .routing = routing, .output = {.indices = indices, .weights = weights}};
    return run(simple, TOPK_OPERATION_ROUTE, problem, &given, stream);
}

topk_status topk_simple_run_merge(topk_simple *simple, const topk_problem *problem, const topk_input *input,
                                  const topk_lists *lists, void *values, void *indices, void *payload,
                                  topk_stream stream) {
    const struct given given = {
        .input = input, .lists = lists, .output = {.values = values, .indices = indices, .payload = payload}};
    return run(simple, TOPK_OPERATION_MERGE, problem, &given, stream);
}

topk_status topk_simple_run_select_by(topk_simple *simple, const topk_problem *problem,
                                      const topk_input *input, void *values, void *indices, int64_t *counts,
                                      topk_stream stream) {
    const struct given given = {.input = input,
                                .output = {.values = values, .indices = indices, .counts = counts}};
    return run(simple, TOPK_OPERATION_SELECT_BY, problem, &given, stream);
}

/* ---- Rows of one length ---- */

static topk_problem problem_of_rows(topk_type type, int64_t rows, int64_t length) {
    topk_problem problem = TOPK_PROBLEM_INIT;
    problem.type = type;
    problem.index_type = TOPK_INDEX_I64;
    problem.rows = rows;
    problem.length_max = length;
    return problem;
}

static topk_problem ranking_of_rows(topk_direction direction, topk_type type, int64_t rows, int64_t length,
                                    int64_t k) {
    topk_problem problem = problem_of_rows(type, rows, length);
    problem.direction = direction;
    problem.k_max = k;
    return problem;
}

static topk_input input_of_rows(const void *values) {
    topk_input input = TOPK_INPUT_INIT;
    input.values = values;
    return input;
}

topk_status topk_simple_select(topk_simple *simple, topk_direction direction, topk_type type,
                               const void *values, int64_t rows, int64_t length, int64_t k, void *out_values,
                               int64_t *out_indices) {
    const topk_problem problem = ranking_of_rows(direction, type, rows, length, k);
    const topk_input input = input_of_rows(values);
    return topk_simple_run_select(simple, &problem, &input, out_values, out_indices, NULL);
}

topk_status topk_simple_kth(topk_simple *simple, topk_direction direction, topk_type type, const void *values,
                            int64_t rows, int64_t length, int64_t k, void *kth) {
    const topk_problem problem = ranking_of_rows(direction, type, rows, length, k);
    const topk_input input = input_of_rows(values);
    return topk_simple_run_kth(simple, &problem, &input, kth, NULL, NULL, NULL);
}

topk_status topk_simple_where(topk_simple *simple, topk_type type, const void *values, int64_t rows,
                              int64_t length, const topk_predicate *predicate, void *out_values,
                              int64_t *out_indices, int64_t capacity, int64_t *offsets) {
    const topk_problem problem = problem_of_rows(type, rows, length);
    const topk_input input = input_of_rows(values);
    return topk_simple_run_where(simple, &problem, &input, predicate, out_values, out_indices, capacity,
                                 offsets, NULL);
}

topk_status topk_simple_count(topk_simple *simple, topk_type type, const void *values, int64_t rows,
                              int64_t length, const topk_predicate *predicate, int64_t *counts) {
    const topk_problem problem = problem_of_rows(type, rows, length);
    const topk_input input = input_of_rows(values);
    return topk_simple_run_count(simple, &problem, &input, predicate, counts, NULL);
}
