/* SPDX-License-Identifier: Apache-2.0
 *
 * Each function leaves errno as it was (CONTRACT.md, 8.1), whatever the C library does to it meanwhile: what
 * the library calls of it goes through the functions here, which all change errno. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture.h"
#include "topk_accumulator.h"
#include "topk_advanced.h"
#include "topk_simple.h"

enum { BEFORE = 4711, CHANGED = 815 };

/* How often this thread's errno was changed. */
static _Thread_local int changes;

static void change(void) {
    changes++;
    errno = CHANGED;
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
    va_list arguments;
    va_start(arguments, number);
    long given[4]; /* as many as a futex takes */
    for (int i = 0; i < 4; i++) {
        given[i] = va_arg(arguments, long);
    }
    va_end(arguments);
    const long result = __real_syscall(number, given[0], given[1], given[2], given[3]);
    change();
    return result;
}

int __real_vsnprintf(char *text, size_t bytes, const char *format, va_list arguments);
int __wrap_vsnprintf(char *text, size_t bytes, const char *format, va_list arguments);
int __wrap_vsnprintf(char *text, size_t bytes, const char *format, va_list arguments) {
    const int length = __real_vsnprintf(text, bytes, format, arguments);
    change();
    return length;
}

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes) {
    void *memory = __real_calloc(count, bytes);
    change();
    return memory;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes) {
    void *memory = __real_malloc(bytes);
    change();
    return memory;
}

void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory) {
    __real_free(memory);
    change();
}

/* Calls, and checks that errno is as it was; the library has changed it meanwhile, if `must` says so. */
#define KEEPS(must, call) keeps(must, ((void)(errno = BEFORE, changes = 0), call), #call, __LINE__)

static void keeps(bool must, topk_status status, const char *text, int line) {
    const int after = errno;
    if (!check_that(after == BEFORE && (!must || changes > 0), text, __FILE__, line)) {
        fprintf(stderr, "    errno is %d after %s, changed %d times\n", after, topk_status_string(status),
                changes);
    }
}

static fixture f;
static topk_context *context;

static topk_context *create(int threads) {
    topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
    topk_context *created = NULL;
    options.backend = TOPK_BACKEND_CPU;
    options.threads = threads;
    KEEPS(true, topk_context_create(&options, &created));
    options.threads = -1;
    topk_context *none;
    KEEPS(true, topk_context_create(&options, &none));
    return created;
}

static topk_status destroy(topk_context *ended) {
    topk_context_destroy(ended);
    return TOPK_OK;
}

static void check_operations(void) {
    for (int i = 0; i < OPERATIONS; i++) {
        fixture_init(&f, context);
        KEEPS(false, fixture_calls[i](&f));
        f.problem.rows = -1;
        KEEPS(true, fixture_calls[i](&f));
    }
    fixture_init(&f, context);
    KEEPS(false, call_route(&f));
    f.out_indices = f.values;
    KEEPS(true, call_route(&f));
    fixture_init(&f, context);
    KEEPS(false, call_merge(&f));
    f.lists.lists = -1;
    KEEPS(true, call_merge(&f));
}

/* Threads without work sleep after a millisecond: then a call has to wake them, and to wait for them. */
static void check_threads(void) {
    enum { MANY = 8192 };
    static float many[MANY];
    int woken = 0;
    for (int e = 0; e < MANY; e++) {
        many[e] = (float)(e * 37 % 8191);
    }
    for (int i = 0; i < 5 * OPERATIONS; i++) {
        fixture_init(&f, context);
        f.problem.rows = 1;
        f.problem.length_max = MANY;
        f.input.values = many;
        f.capacity = 0;
        f.out_mask = f.memory;
        f.workspace = f.memory + MANY;
        f.workspace_bytes -= MANY;
        usleep(3000);
        KEEPS(false, fixture_calls[i % OPERATIONS](&f));
        woken += changes > 0;
    }
    CHECK(woken > 0);
}

static void check_accumulators(void) {
    size_t bytes = 0, exported = 0;
    fixture_init(&f, context);
    void *const state = f.memory, *const other = f.memory + WORKSPACE_BYTES / 2;
    KEEPS(false, topk_accumulator_size(context, &f.problem, &bytes));
    KEEPS(false, topk_accumulator_init(context, &f.problem, state, bytes, NULL));
    KEEPS(false, topk_accumulator_init(context, &f.problem, other, bytes, NULL));
    KEEPS(false, topk_accumulator_push(context, &f.problem, state, bytes, &f.input, LENGTH, 0, NULL));
    KEEPS(false, topk_accumulator_push_where(context, &f.problem, state, bytes, &f.input, &f.predicate,
                                             LENGTH, LENGTH, NULL));
    KEEPS(false, topk_accumulator_merge(context, &f.problem, state, bytes, other, bytes, NULL));
    KEEPS(false, topk_accumulator_peek(context, &f.problem, state, bytes, f.results, f.indices, NULL));
    KEEPS(false, topk_accumulator_export_size(context, &f.problem, &exported));
    KEEPS(false, topk_accumulator_export(context, &f.problem, state, bytes, other, exported, NULL));
    KEEPS(false, topk_accumulator_import(context, &f.problem, state, bytes, other, exported, NULL));
    KEEPS(false, topk_accumulator_finish(context, &f.problem, state, bytes, f.results, f.indices, NULL));
    KEEPS(true, topk_accumulator_size(context, NULL, &bytes)); /* and as many errors */
    KEEPS(true, topk_accumulator_init(context, &f.problem, state, 0, NULL));
    KEEPS(true, topk_accumulator_push(context, &f.problem, state, bytes, &f.input, -1, 0, NULL));
    KEEPS(true,
          topk_accumulator_push_where(context, &f.problem, state, bytes, &f.input, NULL, LENGTH, 0, NULL));
    KEEPS(true, topk_accumulator_merge(context, &f.problem, state, bytes, NULL, bytes, NULL));
    KEEPS(true, topk_accumulator_peek(context, &f.problem, state, bytes, f.results, f.results, NULL));
    KEEPS(true, topk_accumulator_finish(context, &f.problem, state, bytes, f.results, f.results, NULL));
    KEEPS(true, topk_accumulator_export_size(context, &f.problem, NULL));
    KEEPS(true, topk_accumulator_export(context, &f.problem, state, bytes, other, 0, NULL));
    KEEPS(true, topk_accumulator_import(context, &f.problem, state, bytes, other, 0, NULL));
}

static void check_questions(void) {
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    size_t bytes;
    char text[4096];
    fixture_init(&f, context);
    KEEPS(false, topk_backend_status(TOPK_BACKEND_CPU));
    KEEPS(true, topk_backend_status((topk_backend)77));
    KEEPS(false, topk_backend_status(TOPK_BACKEND_CUDA));
    KEEPS(false, topk_context_query(context, &properties));
    KEEPS(true, topk_context_query(context, NULL));
    KEEPS(false, topk_workspace_size(context, TOPK_OPERATION_SELECT, &f.problem, &bytes));
    KEEPS(true, topk_workspace_size(context, TOPK_OPERATION_SELECT, NULL, &bytes));
    KEEPS(true, topk_explain(context, TOPK_OPERATION_SELECT, &f.problem, text, sizeof text, NULL));
    KEEPS(true, topk_explain(context, TOPK_OPERATION_SELECT, NULL, text, sizeof text, NULL));
}

static topk_status destroy_plan(topk_plan *plan) {
    topk_plan_destroy(plan);
    return TOPK_OK;
}

static void check_plans(void) {
    topk_plan *plan = NULL, *none = NULL;
    topk_plan_properties properties = TOPK_PLAN_PROPERTIES_INIT;
    topk_plan_method row = TOPK_PLAN_METHOD_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    fixture_init(&f, context);
    output.values = f.results;
    KEEPS(true, topk_plan_create(context, TOPK_OPERATION_SELECT, &f.problem, NULL, &plan)); /* allocates */
    KEEPS(true, topk_plan_create(context, TOPK_OPERATION_SELECT, NULL, NULL, &none));
    KEEPS(false, topk_plan_query(plan, &properties));
    KEEPS(true, topk_plan_query(plan, NULL));
    KEEPS(false, topk_plan_query_method(plan, 0, &row));
    KEEPS(true, topk_plan_query_method(plan, -1, &row));
    KEEPS(false, topk_plan_run(plan, &f.input, &output, f.workspace, f.workspace_bytes, NULL));
    KEEPS(true, topk_plan_run(plan, &f.input, NULL, f.workspace, f.workspace_bytes, NULL));
    KEEPS(true, destroy_plan(plan));
}

static topk_status destroy_simple(topk_simple *simple) {
    topk_simple_destroy(simple);
    return TOPK_OK;
}

static void check_simple(void) {
    topk_simple *simple = NULL;
    fixture_init(&f, context);
    KEEPS(true, topk_simple_create(NULL, &simple));
    KEEPS(true, topk_simple_select(simple, TOPK_LARGEST, TOPK_F32, f.values, 1, ELEMENTS, K, f.results,
                                   NULL)); /* allocates */
    KEEPS(true, topk_simple_run_where(simple, &f.problem, &f.input, &f.predicate, NULL, NULL, 0, NULL,
                                      (topk_stream)(void *)&f));
    KEEPS(true, topk_simple_run_select(NULL, &f.problem, &f.input, NULL, NULL, NULL));
    KEEPS(true, destroy_simple(simple));
}

int main(void) {
    context = create(3);
    check_operations();
    check_threads();
    check_accumulators();
    check_questions();
    check_plans();
    check_simple();
    KEEPS(true, destroy(context));
    return check_report();
}
