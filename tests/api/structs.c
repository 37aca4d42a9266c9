/* SPDX-License-Identifier: Apache-2.0
 *
 * Structs that are smaller or larger than this library's own (CONTRACT.md, 8.2). */
#include <stdlib.h>

#include "fixture.h"

static fixture f;
static topk_context *context;

/* Calls with a struct of each size: a copy of the valid one that is cut or has a tail behind it. */
typedef topk_status (*struct_call)(void *copy);

static void check_sizes(const void *valid, size_t size, struct_call call) {
    size_t tail = 24;
    char *copy = calloc(1, size + tail); /* the size is the first field of every struct */
    size_t too_small[] = {0, 1, sizeof(size_t), size - 1};
    for (int i = 0; copy != NULL && i < 4; i++) {
        memcpy(copy, valid, size);
        memcpy(copy, &too_small[i], sizeof too_small[i]);
        CHECK_STATUS(TOPK_ERROR_STRUCT_SIZE, call(copy));
        CHECK(topk_last_error()[0] != '\0');
    }
    for (size_t larger = size; copy != NULL && larger <= size + tail; larger++) {
        memcpy(copy, valid, size);
        memcpy(copy, &larger, sizeof larger);
        CHECK_STATUS(TOPK_OK, call(copy));
        if (larger > size) { /* a field that only a later library knows */
            copy[larger - 1] = 1;
            CHECK_STATUS(TOPK_ERROR_STRUCT_SIZE, call(copy));
            copy[larger - 1] = 0;
        }
    }
    free(copy);
}

static topk_status select_with_problem(void *copy) {
    return topk_select(context, copy, &f.input, f.out_values, f.out_indices, f.workspace, f.workspace_bytes,
                       NULL);
}

static topk_status size_with_problem(void *copy) {
    size_t bytes;
    return topk_workspace_size(context, TOPK_OPERATION_KTH, copy, &bytes);
}

static topk_status explain_with_problem(void *copy) {
    return topk_explain(context, TOPK_OPERATION_WHERE, copy, NULL, 0, NULL);
}

static topk_status accumulator_with_problem(void *copy) {
    size_t bytes;
    return topk_accumulator_size(context, copy, &bytes);
}

static topk_status select_with_input(void *copy) {
    return topk_select(context, &f.problem, copy, f.out_values, f.out_indices, f.workspace, f.workspace_bytes,
                       NULL);
}

static topk_status kth_with_input(void *copy) {
    return topk_kth(context, &f.problem, copy, f.out_values, NULL, NULL, f.workspace, f.workspace_bytes,
                    NULL);
}

static topk_status where_with_predicate(void *copy) {
    return topk_where(context, &f.problem, &f.input, copy, f.out_values, f.out_indices, f.capacity, NULL,
                      f.workspace, f.workspace_bytes, NULL);
}

static topk_status select_where_with_predicate(void *copy) {
    return topk_select_where(context, &f.problem, &f.input, copy, f.out_values, f.out_indices, f.workspace,
                             f.workspace_bytes, NULL);
}

static topk_status count_with_predicate(void *copy) {
    return topk_count(context, &f.problem, &f.input, copy, f.out_counts, f.workspace, f.workspace_bytes,
                      NULL);
}

static topk_status mask_with_predicate(void *copy) {
    return topk_mask(context, &f.problem, &f.input, copy, f.out_mask, f.workspace, f.workspace_bytes, NULL);
}

static topk_status route_with_problem(void *copy) {
    return topk_route(context, copy, &f.routing, f.values, f.out_indices, f.results, f.workspace,
                      f.workspace_bytes, NULL);
}

static topk_status route_with_routing(void *copy) {
    return topk_route(context, &f.problem, copy, f.values, f.out_indices, f.results, f.workspace,
                      f.workspace_bytes, NULL);
}

static topk_status push_with_input(void *copy) {
    topk_status status = topk_accumulator_init(context, &f.problem, f.memory, sizeof f.memory, NULL);
    return status != TOPK_OK
               ? status
               : topk_accumulator_push(context, &f.problem, f.memory, sizeof f.memory, copy, 1, 0, NULL);
}

static topk_status create_with_options(void *copy) {
    topk_context *created;
    topk_status status = topk_context_create(copy, &created);
    topk_context_destroy(created);
    return status;
}

static topk_status query_with_properties(void *copy) {
    return topk_context_query(context, copy);
}

int main(void) {
    const topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    const topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    context = create_cpu_context(1);
    fixture_init(&f, context);
    check_sizes(&f.problem, sizeof f.problem, select_with_problem);
    check_sizes(&f.problem, sizeof f.problem, size_with_problem);
    check_sizes(&f.problem, sizeof f.problem, explain_with_problem);
    check_sizes(&f.problem, sizeof f.problem, accumulator_with_problem);
    check_sizes(&f.input, sizeof f.input, select_with_input);
    check_sizes(&f.input, sizeof f.input, kth_with_input);
    check_sizes(&f.input, sizeof f.input, push_with_input);
    check_sizes(&f.predicate, sizeof f.predicate, where_with_predicate);
    check_sizes(&f.predicate, sizeof f.predicate, select_where_with_predicate);
    check_sizes(&f.predicate, sizeof f.predicate, count_with_predicate);
    check_sizes(&f.predicate, sizeof f.predicate, mask_with_predicate);
    check_sizes(&f.problem, sizeof f.problem, route_with_problem);
    check_sizes(&f.routing, sizeof f.routing, route_with_routing);
    check_sizes(&options, sizeof options, create_with_options);
    check_sizes(&properties, sizeof properties, query_with_properties);
    topk_context_destroy(context);
    return check_report();
}
