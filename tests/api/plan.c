/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans: what topk_plan_create() takes, what queries tell, and what a run refuses (CONTRACT.md, 14). A run
 * writes what the operation's own function writes, and so do topk_run() and topk_simple_run(). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "topk_accumulator.h"
#include "topk_advanced.h"
#include "topk_simple.h"

static fixture f, by_call;
static topk_plan *plan;
static topk_input input;
static topk_output output;
static topk_operation operation_of_run;
static topk_simple *simple;

enum { LAST = TOPK_OPERATION_SELECT_BY, ALL_OUTPUTS = 2 * TOPK_OUTPUT_PAYLOAD - 1, BACKEND_METHODS = 8 };

static const unsigned outputs_of[LAST + 1] = {
    [TOPK_OPERATION_SELECT] = TOPK_OUTPUT_VALUES | TOPK_OUTPUT_INDICES,
    [TOPK_OPERATION_KTH] = TOPK_OUTPUT_VALUES | TOPK_OUTPUT_BETTER | TOPK_OUTPUT_EQUAL,
    [TOPK_OPERATION_WHERE] = TOPK_OUTPUT_VALUES | TOPK_OUTPUT_INDICES | TOPK_OUTPUT_OFFSETS,
    [TOPK_OPERATION_SELECT_WHERE] = TOPK_OUTPUT_VALUES | TOPK_OUTPUT_INDICES,
    [TOPK_OPERATION_COUNT] = TOPK_OUTPUT_COUNTS,
    [TOPK_OPERATION_MASK] = TOPK_OUTPUT_MASK,
    [TOPK_OPERATION_ROUTE] = TOPK_OUTPUT_INDICES | TOPK_OUTPUT_WEIGHTS,
    [TOPK_OPERATION_MERGE] = TOPK_OUTPUT_VALUES | TOPK_OUTPUT_INDICES | TOPK_OUTPUT_PAYLOAD,
    [TOPK_OPERATION_KTH_WHERE] = TOPK_OUTPUT_VALUES | TOPK_OUTPUT_BETTER | TOPK_OUTPUT_EQUAL,
    [TOPK_OPERATION_SELECT_BY] = TOPK_OUTPUT_VALUES | TOPK_OUTPUT_INDICES | TOPK_OUTPUT_COUNTS,
};

static bool takes_predicate(int operation) {
    return (operation >= TOPK_OPERATION_WHERE && operation <= TOPK_OPERATION_MASK) ||
           operation == TOPK_OPERATION_KTH_WHERE;
}

static topk_status call(int operation) {
    return operation == TOPK_OPERATION_ROUTE       ? call_route(&f)
           : operation == TOPK_OPERATION_MERGE     ? call_merge(&f)
           : operation == TOPK_OPERATION_KTH_WHERE ? call_kth_where(&f)
           : operation == TOPK_OPERATION_SELECT_BY ? call_select_by(&f)
                                                   : fixture_calls[operation - 1](&f);
}

/* Points the outputs of that set at the fixture's arrays. */
static topk_output outputs_in(fixture *to, unsigned set) {
    topk_output out = TOPK_OUTPUT_INIT;
    out.capacity = to->capacity;
    out.values = set & TOPK_OUTPUT_VALUES ? to->out_values : NULL;
    out.indices = set & TOPK_OUTPUT_INDICES ? to->out_indices : NULL;
    out.offsets = set & TOPK_OUTPUT_OFFSETS ? to->out_counts : NULL;
    out.better = set & TOPK_OUTPUT_BETTER ? to->out_counts : NULL;
    out.equal = set & TOPK_OUTPUT_EQUAL ? to->out_equal : NULL;
    out.counts = set & TOPK_OUTPUT_COUNTS ? to->out_counts : NULL;
    out.mask = set & TOPK_OUTPUT_MASK ? to->out_mask : NULL;
    out.weights = set & TOPK_OUTPUT_WEIGHTS ? to->out_values : NULL;
    out.payload = set & TOPK_OUTPUT_PAYLOAD ? to->out_mask : NULL;
    return out;
}

static topk_status run(fixture *unused) {
    (void)unused;
    return topk_plan_run(plan, &input, &output, f.workspace, f.workspace_bytes, f.stream);
}

static topk_status run_once(fixture *unused) {
    (void)unused;
    return topk_run(f.context, operation_of_run, &f.problem, &input, &output, f.workspace, f.workspace_bytes,
                    f.stream);
}

static topk_status run_simple(fixture *unused) {
    (void)unused;
    return topk_simple_run(simple, operation_of_run, &f.problem, &input, &output, f.stream);
}

/* A plan of a valid problem, and what its runs are given. */
static void begin(topk_context *context, int operation, const topk_plan_what *what) {
    topk_plan_destroy(plan);
    fixture_init(&f, context);
    f.predicate.low = topk_bound_f64(30);
    operation_of_run = (topk_operation)operation;
    CHECK_STATUS(TOPK_OK, topk_plan_create(context, (topk_operation)operation, &f.problem, what, &plan));
    input = f.input;
    input.predicate = takes_predicate(operation) ? &f.predicate : NULL;
    input.routing = operation == TOPK_OPERATION_ROUTE ? &f.routing : NULL;
    input.lists = operation == TOPK_OPERATION_MERGE ? &f.lists : NULL;
    input.indices = operation == TOPK_OPERATION_MERGE ? f.payload : NULL;
    input.groups = operation == TOPK_OPERATION_SELECT_BY ? f.groups : NULL;
    output = outputs_in(&f, outputs_of[operation]);
}

static void check_results_of(topk_context *context, int operation, topk_status (*runs)(fixture *)) {
    begin(context, operation, NULL);
    CHECK_STATUS(TOPK_OK, call(operation));
    memcpy(&by_call, &f, sizeof f);
    begin(context, operation, NULL);
    if (runs == run) {
        f.problem.k_max = f.problem.rows = 0; /* the plan has a copy */
    }
    CHECK_STATUS(TOPK_OK, runs(&f));
    CHECK(memcmp(f.results, by_call.results, sizeof f.results) == 0);
    CHECK(memcmp(f.indices, by_call.indices, sizeof f.indices) == 0);
    CHECK(memcmp(f.counts, by_call.counts, sizeof f.counts) == 0);
    CHECK(memcmp(f.equal, by_call.equal, sizeof f.equal) == 0);
    CHECK(memcmp(f.bits, by_call.bits, sizeof f.bits) == 0);
}

static void check_same_results(topk_context *context) {
    for (int operation = 1; operation <= LAST; operation++) {
        check_results_of(context, operation, run);
        check_results_of(context, operation, run_once);
        check_results_of(context, operation, run_simple);
    }
}

static topk_status create(topk_context *context, int operation, const topk_plan_what *what) {
    topk_plan *created = plan;
    const topk_status status =
        topk_plan_create(context, (topk_operation)operation, &f.problem, what, &created);
    CHECK((status == TOPK_OK) == (created != NULL));
    CHECK(status == TOPK_OK || topk_last_error()[0] != '\0');
    topk_plan_destroy(created);
    return status;
}

static void check_creation(topk_context *context) {
    topk_plan *created = plan;
    fixture_init(&f, context);
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER,
                 topk_plan_create(context, TOPK_OPERATION_SELECT, &f.problem, NULL, NULL));
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER,
                 topk_plan_create(context, TOPK_OPERATION_SELECT, NULL, NULL, &created));
    CHECK(created == NULL);
    CHECK_STATUS(TOPK_ERROR_NULL_POINTER, create(NULL, TOPK_OPERATION_SELECT, NULL));
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, create(context, 0, NULL));
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, create(context, LAST + 1, NULL));
    f.problem.method = "none";
    CHECK_STATUS(TOPK_ERROR_UNKNOWN_METHOD, create(context, TOPK_OPERATION_SELECT, NULL));
    f.problem.method = "compact";
    CHECK_STATUS(TOPK_ERROR_METHOD_CANNOT, create(context, TOPK_OPERATION_SELECT, NULL));
    f.problem.method = NULL;
    f.problem.tuning = "alpha=";
    CHECK_STATUS(TOPK_ERROR_MALFORMED, create(context, TOPK_OPERATION_SELECT, NULL));
    f.problem.tuning = "alpha=64";
    CHECK_STATUS(TOPK_ERROR_METHOD_CANNOT, create(context, TOPK_OPERATION_SELECT, NULL));
    f.problem.tuning = "";
    CHECK_STATUS(TOPK_OK, create(context, TOPK_OPERATION_SELECT, NULL));
    f.problem.rows = -1;
    CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, create(context, TOPK_OPERATION_SELECT, NULL));
    topk_plan_destroy(NULL);
}

static void check_what(topk_context *context) {
    fixture_init(&f, context);
    for (int operation = 1; operation <= LAST; operation++) {
        topk_plan_what what = TOPK_PLAN_WHAT_INIT;
        CHECK_STATUS(TOPK_OK, create(context, operation, &what));
        for (unsigned bit = 1; bit <= TOPK_OUTPUT_PAYLOAD; bit *= 2) {
            what.outputs = bit;
            CHECK_STATUS(outputs_of[operation] & bit ? TOPK_OK : TOPK_ERROR_CONTRADICTION,
                         create(context, operation, &what));
        }
        what.outputs = ALL_OUTPUTS + 1;
        CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, create(context, operation, &what));
        what.outputs = outputs_of[operation];
        for (int kind = TOPK_GT; kind <= TOPK_AT_LEAST; kind++) {
            what.predicate = (topk_predicate_kind)kind;
            CHECK_STATUS(takes_predicate(operation) ? TOPK_OK : TOPK_ERROR_CONTRADICTION,
                         create(context, operation, &what));
        }
        what.predicate = (topk_predicate_kind)(TOPK_AT_LEAST + 1);
        CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, create(context, operation, &what));
        what.predicate = (topk_predicate_kind)-1;
        CHECK_STATUS(TOPK_ERROR_UNKNOWN_ENUM, create(context, operation, &what));
    }
}

/* An output that the operation lacks, or that was not named. */
static void check_refused_outputs(topk_context *context) {
    for (int operation = 1; operation <= LAST; operation++) {
        for (unsigned bit = 1; bit <= TOPK_OUTPUT_PAYLOAD; bit *= 2) {
            topk_plan_what what = TOPK_PLAN_WHAT_INIT;
            begin(context, operation, NULL);
            if (!(outputs_of[operation] & bit)) {
                output = outputs_in(&f, outputs_of[operation] | bit);
                EXPECT(&f, run, TOPK_ERROR_CONTRADICTION);
                EXPECT(&f, run_once, TOPK_ERROR_CONTRADICTION);
                EXPECT(&f, run_simple, TOPK_ERROR_CONTRADICTION);
                continue;
            }
            what.outputs = bit;
            begin(context, operation, &what);
            if (outputs_of[operation] != bit) {
                EXPECT(&f, run, TOPK_ERROR_CONTRADICTION);
            }
            output = outputs_in(&f, bit);
            EXPECT(&f, run, TOPK_OK);
        }
    }
}

static void check_refused_inputs(topk_context *context) {
    for (int operation = 1; operation <= LAST; operation++) {
        topk_plan_what what = TOPK_PLAN_WHAT_INIT;
        begin(context, operation, NULL);
        if (takes_predicate(operation)) {
            input.predicate = NULL;
            EXPECT(&f, run, TOPK_ERROR_NULL_POINTER);
            EXPECT(&f, run_once, TOPK_ERROR_NULL_POINTER);
            EXPECT(&f, run_simple, TOPK_ERROR_NULL_POINTER);
            what.predicate = TOPK_LT;
            begin(context, operation, &what);
            EXPECT(&f, run, TOPK_ERROR_CONTRADICTION);
            f.predicate.kind = TOPK_LT;
            EXPECT(&f, run, TOPK_OK);
        } else {
            input.predicate = &f.predicate;
            EXPECT(&f, run, TOPK_ERROR_CONTRADICTION);
        }
        begin(context, operation, NULL);
        const bool routes = operation == TOPK_OPERATION_ROUTE;
        input.routing = routes ? NULL : &f.routing;
        EXPECT(&f, run, routes ? TOPK_ERROR_NULL_POINTER : TOPK_ERROR_CONTRADICTION);
        begin(context, operation, NULL);
        const bool merges = operation == TOPK_OPERATION_MERGE;
        input.lists = merges ? NULL : &f.lists;
        EXPECT(&f, run, merges ? TOPK_ERROR_NULL_POINTER : TOPK_ERROR_CONTRADICTION);
        begin(context, operation, NULL);
        const bool groups = operation == TOPK_OPERATION_SELECT_BY;
        input.groups = groups ? NULL : f.groups;
        EXPECT(&f, run, groups ? TOPK_ERROR_NULL_POINTER : TOPK_ERROR_CONTRADICTION);
    }
    const void **const fields[] = {&input.indices, &input.lengths, &input.k, &input.begins};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        begin(context, TOPK_OPERATION_ROUTE, NULL);
        *fields[i] = f.k; /* begins belong to another shape; the others would make sense */
        EXPECT(&f, run, fields[i] == &input.begins ? TOPK_ERROR_CONTRADICTION : TOPK_ERROR_UNSUPPORTED);
    }
}

static topk_status run_without_plan(fixture *unused) {
    (void)unused;
    return topk_plan_run(NULL, &input, &output, f.workspace, f.workspace_bytes, NULL);
}

static topk_status run_without_input(fixture *unused) {
    (void)unused;
    return topk_plan_run(plan, NULL, &output, f.workspace, f.workspace_bytes, NULL);
}

static topk_status run_without_output(fixture *unused) {
    (void)unused;
    return topk_plan_run(plan, &input, NULL, f.workspace, f.workspace_bytes, NULL);
}

/* What the operations' own functions refuse. */
static void check_refused_runs(topk_context *context) {
    for (int operation = 1; operation <= LAST; operation++) {
        topk_plan_properties properties = TOPK_PLAN_PROPERTIES_INIT;
        begin(context, operation, NULL);
        EXPECT(&f, run_without_plan, TOPK_ERROR_NULL_POINTER);
        EXPECT(&f, run_without_input, TOPK_ERROR_NULL_POINTER);
        EXPECT(&f, run_without_output, TOPK_ERROR_NULL_POINTER);
        f.stream = (topk_stream)(void *)f.memory;
        EXPECT(&f, run, TOPK_ERROR_CONTRADICTION);
        f.stream = NULL;
        CHECK_STATUS(TOPK_OK, topk_plan_query(plan, &properties));
        f.workspace_bytes = properties.workspace_bytes;
        EXPECT(&f, run, TOPK_OK);
        f.workspace_bytes -= properties.workspace_bytes > 0;
        EXPECT(&f, run, properties.workspace_bytes > 0 ? TOPK_ERROR_WORKSPACE_TOO_SMALL : TOPK_OK);
        f.workspace_bytes = WORKSPACE_BYTES;
        input.values = (const char *)f.values + 1;
        EXPECT(&f, run, TOPK_ERROR_MISALIGNED);
        input.values = NULL;
        EXPECT(&f, run, TOPK_ERROR_NULL_POINTER);
    }
    begin(context, TOPK_OPERATION_COUNT, NULL);
    output.counts = NULL;
    EXPECT(&f, run, TOPK_ERROR_NULL_POINTER);
    begin(context, TOPK_OPERATION_SELECT, NULL);
    output.values = f.values;
    EXPECT(&f, run, TOPK_ERROR_OVERLAP);
    begin(context, TOPK_OPERATION_WHERE, NULL);
    output.capacity = -1;
    EXPECT(&f, run, TOPK_ERROR_OUT_OF_RANGE);
    output.capacity = INT64_MAX / 4;
    EXPECT(&f, run, TOPK_ERROR_OVERFLOW);
}

/* What only calls can be given. */
static void check_refused_calls(topk_context *context) {
    for (int operation = 1; operation <= LAST; operation++) {
        size_t bytes;
        begin(context, operation, NULL);
        CHECK_STATUS(TOPK_OK, topk_workspace_size(context, operation_of_run, &f.problem, &bytes));
        f.workspace_bytes = bytes;
        EXPECT(&f, run_once, TOPK_OK);
        f.workspace_bytes -= bytes > 0;
        EXPECT(&f, run_once, bytes > 0 ? TOPK_ERROR_WORKSPACE_TOO_SMALL : TOPK_OK);
        CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_run(NULL, operation_of_run, &f.problem, &input, &output,
                                                       f.workspace, f.workspace_bytes, NULL));
        CHECK_STATUS(TOPK_ERROR_NULL_POINTER,
                     topk_simple_run(NULL, operation_of_run, &f.problem, &input, &output, NULL));
        CHECK_STATUS(TOPK_ERROR_NULL_POINTER,
                     topk_simple_run(simple, operation_of_run, &f.problem, NULL, &output, NULL));
        operation_of_run = (topk_operation)(LAST + 1);
        EXPECT(&f, run_once, TOPK_ERROR_UNKNOWN_ENUM);
        EXPECT(&f, run_simple, TOPK_ERROR_UNKNOWN_ENUM);
    }
}

static topk_status push(fixture *of) {
    return topk_accumulator_push(of->context, &of->problem, of->memory, sizeof of->memory, &of->input, LENGTH,
                                 0, NULL);
}

/* Functions with a parameter for it, and those without: it is for plans. */
static void check_fields_of_runs(topk_context *context) {
    fixture_init(&f, context);
    f.input.predicate = &f.predicate;
    EXPECT_ALL(&f, TOPK_ERROR_CONTRADICTION);
    f.input.predicate = NULL;
    f.input.routing = &f.routing;
    EXPECT_ALL(&f, TOPK_ERROR_CONTRADICTION);
    f.input.routing = NULL;
    f.input.lists = &f.lists;
    EXPECT_ALL(&f, TOPK_ERROR_CONTRADICTION);
    f.input.lists = NULL;
    f.input.routing = &f.routing;
    CHECK_STATUS(TOPK_OK, topk_accumulator_init(context, &f.problem, f.memory, sizeof f.memory, NULL));
    EXPECT(&f, push, TOPK_ERROR_CONTRADICTION);
    f.input.routing = NULL;
    f.input.predicate = &f.predicate;
    EXPECT(&f, push, TOPK_ERROR_CONTRADICTION);
    f.input.predicate = NULL;
    EXPECT(&f, push, TOPK_OK);
}

/* Each row is what topk_explain() prints of that method. */
static void check_row(const topk_plan_method *row, const char *explanation) {
    char line[512];
    if (row->cannot != NULL) {
        CHECK(row->workspace_bytes == 0 && row->launches == 0 && row->variant == NULL);
        (void)snprintf(line, sizeof line, " %-10s cannot: %s\n", row->method, row->cannot);
    } else {
        (void)snprintf(line, sizeof line, " %-10s %12.1f us predicted %14zu bytes of workspace%s\n",
                       row->method, row->predicted_us, row->workspace_bytes,
                       row->within_bound ? "" : ", above the bound");
    }
    CHECK(strstr(explanation, line) != NULL);
}

static void check_queries(topk_context *context) {
    static char explanation[16384];
    for (int operation = 1; operation <= LAST; operation++) {
        topk_plan_properties properties = TOPK_PLAN_PROPERTIES_INIT;
        topk_plan_method row = TOPK_PLAN_METHOD_INIT;
        size_t bytes;
        int chosen = 0;
        begin(context, operation, NULL);
        CHECK_STATUS(TOPK_OK, topk_plan_query(plan, &properties));
        CHECK_STATUS(TOPK_OK, topk_workspace_size(context, (topk_operation)operation, &f.problem, &bytes));
        CHECK_STATUS(TOPK_OK, topk_explain(context, (topk_operation)operation, &f.problem, explanation,
                                           sizeof explanation, NULL));
        CHECK(properties.workspace_bytes == bytes && properties.methods == BACKEND_METHODS);
        for (int i = 0; i < properties.methods; i++) {
            CHECK_STATUS(TOPK_OK, topk_plan_query_method(plan, i, &row));
            check_row(&row, explanation);
            chosen += row.cannot == NULL && strcmp(row.method, properties.method) == 0 &&
                      row.predicted_us == properties.predicted_us;
            CHECK(row.cannot != NULL || row.predicted_us >= properties.predicted_us);
        }
        CHECK(chosen == 1);
        CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_plan_query_method(plan, -1, &row));
        CHECK_STATUS(TOPK_ERROR_OUT_OF_RANGE, topk_plan_query_method(plan, properties.methods, &row));
        CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_plan_query_method(NULL, 0, &row));
        CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_plan_query_method(plan, 0, NULL));
        CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_plan_query(NULL, &properties));
        CHECK_STATUS(TOPK_ERROR_NULL_POINTER, topk_plan_query(plan, NULL));
    }
}

/* The caller's texts may go once there is a plan. */
static void check_copied_texts(topk_context *context) {
    char method[] = "reference", tuning[] = "";
    topk_plan_properties properties = TOPK_PLAN_PROPERTIES_INIT;
    topk_plan_method row = TOPK_PLAN_METHOD_INIT;
    begin(context, TOPK_OPERATION_SELECT, NULL);
    topk_plan_destroy(plan);
    f.problem.method = method;
    f.problem.tuning = tuning;
    CHECK_STATUS(TOPK_OK, topk_plan_create(context, TOPK_OPERATION_SELECT, &f.problem, NULL, &plan));
    memset(method, '?', sizeof method);
    memset(tuning, '?', sizeof tuning);
    CHECK_STATUS(TOPK_OK, run(&f));
    CHECK(f.results[0] >= f.results[1] && f.results[1] > 0);
    CHECK_STATUS(TOPK_OK, topk_plan_query(plan, &properties));
    CHECK(strcmp(properties.method, "reference") == 0 && properties.launches == 0);
    CHECK_STATUS(TOPK_OK, topk_plan_query_method(plan, properties.methods - 1, &row));
    CHECK(strcmp(row.method, "reference") == 0 && row.cannot == NULL);
}

enum { THREADS = 4, ROUNDS = 200 };

/* With a workspace and outputs of its own. */
static void *run_often(void *wrong) {
    static const size_t bytes = WORKSPACE_BYTES;
    char *const workspace = malloc(bytes);
    float values[ROWS * K];
    topk_output own = TOPK_OUTPUT_INIT;
    own.values = values;
    for (int round = 0; round < ROUNDS; round++) {
        memset(values, 0, sizeof values);
        *(int *)wrong += topk_plan_run(plan, &input, &own, workspace, bytes, NULL) != TOPK_OK ||
                         memcmp(values, f.results, sizeof values) != 0;
    }
    free(workspace);
    return NULL;
}

static void check_threads(topk_context *context) {
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0};
    begin(context, TOPK_OPERATION_SELECT, NULL);
    CHECK_STATUS(TOPK_OK, run(&f));
    for (int t = 0; t < THREADS; t++) {
        CHECK(pthread_create(&threads[t], NULL, run_often, &wrong[t]) == 0);
    }
    for (int t = 0; t < THREADS; t++) {
        CHECK(pthread_join(threads[t], NULL) == 0);
        CHECK(wrong[t] == 0);
    }
}

int main(void) {
    topk_context *context = create_cpu_context(2);
    CHECK_STATUS(TOPK_OK, topk_simple_create(NULL, &simple));
    check_same_results(context);
    check_creation(context);
    check_what(context);
    check_refused_outputs(context);
    check_refused_inputs(context);
    check_refused_runs(context);
    check_refused_calls(context);
    check_fields_of_runs(context);
    check_queries(context);
    check_copied_texts(context);
    check_threads(context);
    topk_plan_destroy(plan);
    topk_simple_destroy(simple);
    topk_context_destroy(context);
    return check_report();
}
