/* SPDX-License-Identifier: Apache-2.0
 *
 * One small valid call of each operation. Tests change one thing and look at the status; on an error
 * not one byte of the fixture may have changed. */
#ifndef TESTS_FIXTURE_H
#define TESTS_FIXTURE_H

#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "topk_groups.h"
#include "topk_merge.h"
#include "topk_route.h"

enum { ROWS = 3, LENGTH = 40, K = 5, ELEMENTS = ROWS * LENGTH, WORKSPACE_BYTES = 1 << 20 };

typedef struct fixture {
    topk_context *context;
    topk_problem problem;
    topk_input input;
    topk_predicate predicate;
    topk_routing routing;
    topk_lists lists;
    /* Arguments of the calls; they point into the arrays below. */
    void *out_values, *out_indices, *out_mask, *workspace;
    int64_t *out_counts, *out_equal;
    int64_t capacity;
    size_t workspace_bytes;
    topk_stream stream;
    _Alignas(64) float values[ELEMENTS];
    _Alignas(64) int32_t payload[ELEMENTS];
    _Alignas(64) int64_t extents[ROWS + 1], ends[ROWS], k[ROWS];
    _Alignas(64) int64_t groups[LENGTH]; /* of one row's elements */
    _Alignas(64) unsigned char mask[ELEMENTS];
    _Alignas(64) float results[ELEMENTS];
    _Alignas(64) int32_t indices[ELEMENTS];
    _Alignas(64) int64_t counts[ROWS + 1], equal[ROWS];
    _Alignas(64) unsigned char bits[ELEMENTS / 8];
    _Alignas(64) unsigned char memory[WORKSPACE_BYTES];
} fixture;

static inline topk_context *create_cpu_context(int threads) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *context = NULL;
    options.backend = TOPK_BACKEND_CPU;
    options.threads = threads;
    CHECK_STATUS(TOPK_OK, topk_context_create(&options, &context));
    return context;
}

/* Strided rows of f32 with int32 indices. */
static inline void fixture_init(fixture *f, topk_context *context) {
    memset(f, 0, sizeof *f);
    f->context = context;
    f->problem = (topk_problem)TOPK_PROBLEM_INIT;
    f->problem.type = TOPK_F32;
    f->problem.rows = ROWS;
    f->problem.length_max = LENGTH;
    f->problem.k_max = K;
    f->input = (topk_input)TOPK_INPUT_INIT;
    f->input.values = f->values;
    f->predicate = (topk_predicate)TOPK_PREDICATE_INIT;
    f->predicate.kind = TOPK_GT;
    f->routing = (topk_routing)TOPK_ROUTING_INIT;
    f->lists = (topk_lists)TOPK_LISTS_INIT;
    f->lists.lists = 1;
    f->lists.payload = f->mask;
    f->lists.payload_bytes = 1;
    f->out_values = f->results;
    f->out_indices = f->indices;
    f->out_counts = f->counts;
    f->out_equal = f->equal;
    f->out_mask = f->bits;
    f->capacity = ELEMENTS;
    f->workspace = f->memory;
    f->workspace_bytes = WORKSPACE_BYTES;
    for (int e = 0; e < ELEMENTS; e++) {
        f->values[e] = (float)((e * 37) % 101);
        f->payload[e] = e;
        f->mask[e] = (unsigned char)(e % 2);
    }
    for (int e = 0; e < LENGTH; e++) {
        f->groups[e] = e % (ROWS + 1) - 1; /* -1: of none */
    }
    for (int r = 0; r <= ROWS; r++) {
        f->extents[r] = r * LENGTH;
    }
    for (int r = 0; r < ROWS; r++) {
        f->ends[r] = (r + 1) * LENGTH;
        f->k[r] = K;
    }
}

static inline topk_status call_select(fixture *f) {
    return topk_select(f->context, &f->problem, &f->input, f->out_values, f->out_indices, f->workspace,
                       f->workspace_bytes, f->stream);
}

static inline topk_status call_kth(fixture *f) {
    return topk_kth(f->context, &f->problem, &f->input, f->out_values, f->out_counts, f->out_equal,
                    f->workspace, f->workspace_bytes, f->stream);
}

static inline topk_status call_where(fixture *f) {
    return topk_where(f->context, &f->problem, &f->input, &f->predicate, f->out_values, f->out_indices,
                      f->capacity, f->out_counts, f->workspace, f->workspace_bytes, f->stream);
}

static inline topk_status call_select_where(fixture *f) {
    return topk_select_where(f->context, &f->problem, &f->input, &f->predicate, f->out_values, f->out_indices,
                             f->workspace, f->workspace_bytes, f->stream);
}

static inline topk_status call_kth_where(fixture *f) {
    return topk_kth_where(f->context, &f->problem, &f->input, &f->predicate, f->out_values, f->out_counts,
                          f->out_equal, f->workspace, f->workspace_bytes, f->stream);
}

static inline topk_status call_count(fixture *f) {
    return topk_count(f->context, &f->problem, &f->input, &f->predicate, f->out_counts, f->workspace,
                      f->workspace_bytes, f->stream);
}

static inline topk_status call_mask(fixture *f) {
    return topk_mask(f->context, &f->problem, &f->input, &f->predicate, f->out_mask, f->workspace,
                     f->workspace_bytes, f->stream);
}

/* `values` are logits. */
static inline topk_status call_route(fixture *f) {
    return topk_route(f->context, &f->problem, &f->routing, f->input.values, f->out_indices, f->out_values,
                      f->workspace, f->workspace_bytes, f->stream);
}

/* One list of each row, whose indices are f->payload. */
static inline topk_status call_merge(fixture *f) {
    topk_input input = f->input;
    input.indices = input.indices == NULL ? f->payload : input.indices;
    return topk_merge(f->context, &f->problem, &input, &f->lists, f->out_values, f->out_indices, f->out_mask,
                      f->workspace, f->workspace_bytes, f->stream);
}

/* Rows are groups, and f->groups those of the elements. */
static inline topk_status call_select_by(fixture *f) {
    topk_input input = f->input;
    input.groups = input.groups == NULL ? f->groups : input.groups;
    return topk_select_by(f->context, &f->problem, &input, f->out_values, f->out_indices, f->out_counts,
                          f->workspace, f->workspace_bytes, f->stream);
}

/* The operations that serve every problem, from TOPK_OPERATION_SELECT = 1 on; and those that take a
 * predicate.
 */
enum { OPERATIONS = TOPK_OPERATION_MASK };
static topk_status (*const fixture_calls[OPERATIONS])(fixture *) = {call_select,       call_kth,   call_where,
                                                                    call_select_where, call_count, call_mask};
static const char *const fixture_call_names[OPERATIONS] = {"select",       "kth",   "where",
                                                           "select_where", "count", "mask"};
enum { FIRST_PREDICATE = TOPK_OPERATION_WHERE - 1 };

static fixture fixture_before; /* too large for a stack that a sanitizer has widened */

/* Runs a call and checks its status; after an error, that there is a sentence and nothing was written. */
static inline void expect_at(fixture *f, topk_status (*call)(fixture *), topk_status wanted, const char *text,
                             const char *file, int line) {
    memcpy(&fixture_before, f, sizeof *f);
    if (check_status(wanted, call(f), text, file, line) && wanted != TOPK_OK) {
        check_that(topk_last_error()[0] != '\0', "there is a sentence", file, line);
        check_that(memcmp(&fixture_before, f, sizeof *f) == 0, "nothing was written", file, line);
    }
}

#define EXPECT(f, call, wanted) expect_at(f, call, wanted, #call, __FILE__, __LINE__)

static inline void expect_all_at(fixture *f, topk_status wanted, const char *file, int line) {
    for (int i = 0; i < OPERATIONS; i++) {
        expect_at(f, fixture_calls[i], wanted, fixture_call_names[i], file, line);
    }
    expect_at(f, call_kth_where, wanted, "kth_where", file, line);
}

static inline void expect_predicate_at(fixture *f, topk_status wanted, const char *file, int line) {
    for (int i = FIRST_PREDICATE; i < OPERATIONS; i++) {
        expect_at(f, fixture_calls[i], wanted, fixture_call_names[i], file, line);
    }
    expect_at(f, call_kth_where, wanted, "kth_where", file, line);
}

/* The same status from all operations, and from all that take a predicate. */
#define EXPECT_ALL(f, wanted) expect_all_at(f, wanted, __FILE__, __LINE__)
#define EXPECT_PREDICATE(f, wanted) expect_predicate_at(f, wanted, __FILE__, __LINE__)

#endif
