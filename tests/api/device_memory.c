/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of a GPU that is handed to the CPU is CONTRADICTION wherever CUDA's driver can tell
 * (CONTRACT.md, 7.8). A library that the test loads stands for the driver and says of the fixture's arrays
 * what the test wants.
 *
 * usage: test_api_device_memory LIBCUDA */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "fake_driver_cuda.h"
#include "fixture.h"
#include "topk_accumulator.h"
#include "topk_simple.h"

static fixture f;
static fake_driver *driver;
static void (*set_current)(int has_context);
static topk_context *context; /* created with the driver there */
static topk_simple *simple;

/* ---- The fixture's arrays -------------------------------------------------------------------- */

typedef struct array {
    const char *name;
    size_t at, bytes;
} array;

#define ARRAY(field)                                                                                         \
    { #field, offsetof(fixture, field), sizeof f.field }
enum {
    VALUES,
    PAYLOAD,
    EXTENTS,
    ENDS,
    KS,
    GROUPS,
    MASK,
    RESULTS,
    INDICES,
    COUNTS,
    EQUAL,
    BITS,
    MEMORY,
    ARRAYS
};
static const array arrays[ARRAYS] = {
    ARRAY(values),  ARRAY(payload), ARRAY(extents), ARRAY(ends),  ARRAY(k),    ARRAY(groups), ARRAY(mask),
    ARRAY(results), ARRAY(indices), ARRAY(counts),  ARRAY(equal), ARRAY(bits), ARRAY(memory)};

static void describe(int which, fake_memory memory) {
    driver->begin = (const char *)&f + arrays[which].at;
    driver->bytes = arrays[which].bytes;
    driver->memory = memory;
    driver->contexts = driver->attributes = driver->error = 0;
}

/* The call refuses an array of a GPU by that name; NULL: it does not use the array. All other memory is good.
 */
static void check_array(topk_status (*call)(fixture *), int which, const char *name) {
    for (int memory = FAKE_UNKNOWN; memory <= FAKE_MANAGED; memory++) {
        const bool refused = name != NULL && memory == FAKE_DEVICE;
        const topk_status wanted = refused ? TOPK_ERROR_CONTRADICTION : TOPK_OK;
        describe(which, (fake_memory)memory);
        expect_at(&f, call, wanted, arrays[which].name, __FILE__, __LINE__);
        if (refused && !CHECK(strncmp(topk_last_error(), name, strlen(name)) == 0 &&
                              strstr(topk_last_error(), "memory of a GPU") != NULL)) {
            fprintf(stderr, "    for %s: %s\n", arrays[which].name, topk_last_error());
        }
        CHECK(name == NULL || driver->attributes > 0);
    }
}

/* ---- Operations ------------------------------------------------------------------------------ */

static topk_operation operation;

static bool takes_predicate(void) {
    return (operation >= TOPK_OPERATION_WHERE && operation <= TOPK_OPERATION_MASK) ||
           operation == TOPK_OPERATION_KTH_WHERE;
}

static topk_input input_of_run(void) {
    topk_input input = f.input;
    input.predicate = takes_predicate() ? &f.predicate : NULL;
    input.routing = operation == TOPK_OPERATION_ROUTE ? &f.routing : NULL;
    input.lists = operation == TOPK_OPERATION_MERGE ? &f.lists : NULL;
    input.groups = operation == TOPK_OPERATION_SELECT_BY ? f.groups : NULL;
    return input;
}

static bool is_one_of(topk_operation a, topk_operation b, topk_operation c) {
    return operation == a || operation == b || operation == c;
}

static topk_output output_of_run(void) {
    const bool is_kth = operation == TOPK_OPERATION_KTH || operation == TOPK_OPERATION_KTH_WHERE;
    const bool is_where = operation == TOPK_OPERATION_WHERE;
    const bool selects = is_one_of(TOPK_OPERATION_SELECT, TOPK_OPERATION_SELECT_WHERE, TOPK_OPERATION_WHERE);
    const bool is_route = operation == TOPK_OPERATION_ROUTE, is_merge = operation == TOPK_OPERATION_MERGE;
    const bool is_by = operation == TOPK_OPERATION_SELECT_BY;
    topk_output output = TOPK_OUTPUT_INIT;
    output.capacity = f.capacity;
    output.values = selects || is_kth || is_merge || is_by ? f.out_values : NULL;
    output.indices = selects || is_route || is_merge || is_by ? f.out_indices : NULL;
    output.payload = is_merge ? f.out_mask : NULL;
    output.weights = is_route ? f.out_values : NULL;
    output.offsets = is_where ? f.out_counts : NULL;
    output.better = is_kth ? f.out_counts : NULL;
    output.equal = is_kth ? f.out_equal : NULL;
    output.counts = operation == TOPK_OPERATION_COUNT || is_by ? f.out_counts : NULL;
    output.mask = operation == TOPK_OPERATION_MASK ? f.out_mask : NULL;
    return output;
}

static topk_status call_own(fixture *x) {
    return operation == TOPK_OPERATION_ROUTE       ? call_route(x)
           : operation == TOPK_OPERATION_MERGE     ? call_merge(x)
           : operation == TOPK_OPERATION_KTH_WHERE ? call_kth_where(x)
           : operation == TOPK_OPERATION_SELECT_BY ? call_select_by(x)
                                                   : fixture_calls[operation - 1](x);
}

static topk_status call_run(fixture *x) {
    const topk_input input = input_of_run();
    const topk_output output = output_of_run();
    return topk_run(x->context, operation, &x->problem, &input, &output, x->workspace, x->workspace_bytes,
                    NULL);
}

static topk_status call_plan(fixture *x) {
    const topk_input input = input_of_run();
    const topk_output output = output_of_run();
    topk_plan *plan;
    topk_status status = topk_plan_create(x->context, operation, &x->problem, NULL, &plan);
    if (status == TOPK_OK) {
        status = topk_plan_run(plan, &input, &output, x->workspace, x->workspace_bytes, NULL);
    }
    topk_plan_destroy(plan);
    return status;
}

static topk_status call_simple(fixture *x) {
    const topk_input input = input_of_run();
    const topk_output output = output_of_run();
    return topk_simple_run(simple, operation, &x->problem, &input, &output, NULL);
}

static topk_status (*const ways[])(fixture *) = {call_own, call_run, call_plan, call_simple};
enum { WAYS = sizeof ways / sizeof ways[0] };

static void check_ways(int which, const char *name) {
    for (int way = 0; way < WAYS; way++) {
        check_array(ways[way], which, name);
    }
}

/* Each has a name where the operation reads or writes the array. */
static const char *output_name(int which) {
    const topk_output output = output_of_run();
    const char *const of_counts = output.offsets != NULL  ? "offsets"
                                  : output.better != NULL ? "better"
                                  : output.counts != NULL ? "counts"
                                                          : NULL;
    return which == RESULTS   ? (output.values != NULL    ? "values"
                                 : output.weights != NULL ? "weights"
                                                          : NULL)
           : which == INDICES ? (output.indices != NULL ? "indices" : NULL)
           : which == COUNTS  ? of_counts
           : which == EQUAL   ? (output.equal != NULL ? "equal" : NULL)
           : which == BITS    ? (output.mask != NULL      ? "mask"
                                 : output.payload != NULL ? "payload"
                                                          : NULL)
                              : NULL;
}

static void check_outputs(void) {
    for (int which = RESULTS; which <= BITS; which++) {
        check_ways(which, output_name(which));
    }
}

/* Returns its bytes. */
static size_t check_workspace(void) {
    size_t bytes = 0;
    CHECK_STATUS(TOPK_OK, topk_workspace_size(context, operation, &f.problem, &bytes));
    for (int way = 0; way < WAYS; way++) {
        check_array(ways[way], MEMORY, bytes > 0 && ways[way] != call_simple ? "workspace" : NULL);
    }
    return bytes;
}

static void begin(topk_shape shape) {
    fixture_init(&f, context);
    f.problem.shape = shape;
    if (shape != TOPK_SHAPE_STRIDED) {
        f.problem.elements_max = ELEMENTS;
    }
}

/* All that an operation reads, by the ways in which rows and predicates can be given. */
static void check_inputs(void) {
    begin(TOPK_SHAPE_STRIDED);
    f.input.lengths = f.ends;
    f.input.indices = f.payload;
    f.input.k = f.k;
    check_ways(VALUES, "input->values");
    check_ways(PAYLOAD, "input->indices");
    check_ways(ENDS, "input->lengths");
    check_ways(KS, "input->k");
    begin(TOPK_SHAPE_SPANS);
    f.input.begins = f.extents;
    f.input.ends = f.ends;
    check_ways(EXTENTS, "input->begins");
    check_ways(ENDS, "input->ends");
    begin(TOPK_SHAPE_CSR);
    f.input.offsets = f.extents;
    check_ways(EXTENTS, "input->offsets");
    if (takes_predicate()) {
        begin(TOPK_SHAPE_STRIDED);
        f.predicate.kind = TOPK_BYTE_MASK;
        f.predicate.mask = f.mask;
        check_ways(MASK, "predicate->mask");
        f.predicate.kind = TOPK_GT;
        f.predicate.mask = NULL;
        f.predicate.bounds = (const topk_bound *)f.payload;
        check_ways(PAYLOAD, "predicate->bounds");
    }
}

static void check_merging(void) {
    operation = TOPK_OPERATION_MERGE;
    begin(TOPK_SHAPE_STRIDED);
    f.input.indices = f.payload;
    f.input.lengths = f.ends;
    f.input.k = f.k;
    check_ways(VALUES, "input->values");
    check_ways(PAYLOAD, "input->indices");
    check_ways(ENDS, "input->lengths");
    check_ways(KS, "input->k");
    check_ways(MASK, "lists->payload");
    check_outputs();
    (void)check_workspace();
}

static void check_grouping(void) {
    operation = TOPK_OPERATION_SELECT_BY;
    begin(TOPK_SHAPE_STRIDED);
    f.input.indices = f.payload;
    f.input.k = f.k;
    check_ways(VALUES, "input->values");
    check_ways(GROUPS, "input->groups");
    check_ways(PAYLOAD, "input->indices");
    check_ways(KS, "input->k");
    check_outputs();
    (void)check_workspace();
}

static void check_operations(void) {
    size_t bytes = 0;
    for (int each = TOPK_OPERATION_SELECT; each <= TOPK_OPERATION_MASK; each++) {
        operation = (topk_operation)each;
        check_inputs();
        begin(TOPK_SHAPE_STRIDED);
        check_outputs();
        bytes |= check_workspace();
    }
    CHECK(bytes > 0);
    operation = TOPK_OPERATION_ROUTE;
    begin(TOPK_SHAPE_STRIDED);
    f.routing.bias = (const float *)f.payload;
    check_ways(VALUES, "logits");
    check_ways(PAYLOAD, "routing->bias");
    check_outputs();
    (void)check_workspace();
    check_merging();
    check_grouping();
}

/* ---- Accumulators ---------------------------------------------------------------------------- */

static size_t state_bytes;
static void *other; /* a state behind the one in the fixture's workspace */

static topk_status call_init(fixture *x) {
    return topk_accumulator_init(x->context, &x->problem, x->workspace, state_bytes, NULL);
}

/* Each call starts from a state without elements. */
static topk_status begin_state(fixture *x) {
    const fake_memory memory = driver->memory;
    driver->memory = FAKE_UNKNOWN;
    const topk_status status = call_init(x);
    driver->memory = memory;
    return status;
}

static topk_status call_push(fixture *x) {
    return topk_accumulator_push(x->context, &x->problem, x->workspace, state_bytes, &x->input, LENGTH, 0,
                                 NULL);
}

static topk_status call_push_where(fixture *x) {
    return topk_accumulator_push_where(x->context, &x->problem, x->workspace, state_bytes, &x->input,
                                       &x->predicate, LENGTH, 0, NULL);
}

static topk_status call_merge_states(fixture *x) {
    return topk_accumulator_merge(x->context, &x->problem, x->workspace, state_bytes, other, state_bytes,
                                  NULL);
}

static topk_status call_peek(fixture *x) {
    return topk_accumulator_peek(x->context, &x->problem, x->workspace, state_bytes, x->out_values,
                                 x->out_indices, NULL);
}

static topk_status call_finish(fixture *x) {
    const topk_status status = topk_accumulator_finish(x->context, &x->problem, x->workspace, state_bytes,
                                                       x->out_values, x->out_indices, NULL);
    return status != TOPK_OK ? status : begin_state(x);
}

static void check_accumulators(void) {
    begin(TOPK_SHAPE_STRIDED);
    CHECK_STATUS(TOPK_OK, topk_accumulator_size(context, &f.problem, &state_bytes));
    CHECK(state_bytes <= WORKSPACE_BYTES);
    other = calloc(1, state_bytes);
    driver->memory = FAKE_UNKNOWN;
    CHECK_STATUS(TOPK_OK, topk_accumulator_init(context, &f.problem, other, state_bytes, NULL));
    check_array(call_init, MEMORY, "state");
    check_array(call_push, MEMORY, "state");
    check_array(call_push, VALUES, "input->values");
    check_array(call_push_where, MEMORY, "state");
    check_array(call_push_where, VALUES, "input->values");
    f.predicate.kind = TOPK_BYTE_MASK;
    f.predicate.mask = f.mask;
    check_array(call_push_where, MASK, "predicate->mask");
    check_array(call_merge_states, MEMORY, "state");
    check_array(call_peek, MEMORY, "state");
    check_array(call_peek, RESULTS, "values");
    check_array(call_peek, INDICES, "indices");
    check_array(call_finish, MEMORY, "state");
    check_array(call_finish, RESULTS, "values");
    check_array(call_finish, INDICES, "indices");
    free(other);
    other = f.memory + WORKSPACE_BYTES / 2;
    CHECK(state_bytes <= WORKSPACE_BYTES / 2);
    driver->memory = FAKE_UNKNOWN;
    CHECK_STATUS(TOPK_OK, topk_accumulator_init(context, &f.problem, other, state_bytes, NULL));
    describe(MEMORY, FAKE_DEVICE);
    driver->begin = other;
    driver->bytes = WORKSPACE_BYTES / 2;
    EXPECT(&f, call_merge_states, TOPK_ERROR_CONTRADICTION);
    CHECK(strncmp(topk_last_error(), "other", 5) == 0);
}

/* ---- When the driver is asked ---------------------------------------------------------------- */

static void begin_select_on_device(void) {
    operation = TOPK_OPERATION_SELECT;
    begin(TOPK_SHAPE_STRIDED);
    describe(VALUES, FAKE_DEVICE);
}

static void *select_without_context(void *unused) {
    EXPECT(&f, call_select, TOPK_OK); /* the other thread's context is not current here */
    return unused;
}

/* Without a current context the driver knows no memory, and with an error it says nothing. */
static void check_without_context(void) {
    pthread_t thread;
    set_current(0);
    begin_select_on_device();
    EXPECT(&f, call_select, TOPK_OK);
    CHECK(driver->contexts == 1 && driver->attributes == 0);
    set_current(1);
    CHECK(pthread_create(&thread, NULL, select_without_context, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(driver->contexts == 2 && driver->attributes == 0);
    driver->error = 3; /* it is not initialised: as in a forked child */
    EXPECT(&f, call_select, TOPK_OK);
    CHECK(driver->contexts == 3 && driver->attributes == 0);
}

/* Arrays that hold nothing are not looked at. */
static void check_without_elements(void) {
    begin_select_on_device();
    f.problem.rows = 0;
    EXPECT(&f, call_select, TOPK_OK);
    CHECK(driver->attributes == 0);
    begin_select_on_device();
    describe(RESULTS, FAKE_DEVICE);
    f.problem.k_max = 0;
    EXPECT(&f, call_select, TOPK_OK);
}

/* One call for each buffer that is the host's. */
static void check_calls_of_driver(void) {
    begin_select_on_device();
    describe(VALUES, FAKE_UNKNOWN);
    f.problem.method = "reference";
    EXPECT(&f, call_select, TOPK_OK);
    CHECK(driver->contexts == 1 && driver->attributes <= 4);
}

/* A context from before the driver came asks nothing. */
static void check_early(topk_context *early) {
    begin_select_on_device();
    f.context = early;
    EXPECT(&f, call_select, TOPK_OK);
    CHECK(driver->contexts == 0 && driver->attributes == 0);
}

static void *function(void *library, const char *name) {
    void *const found = dlsym(library, name);
    if (!CHECK(found != NULL)) {
        exit(check_report());
    }
    return found;
}

int main(int argc, char **argv) {
    topk_context *const early = create_cpu_context(1);
    void *const library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL) {
        fprintf(stderr, "usage: test_api_device_memory LIBCUDA: %s\n", argc == 2 ? dlerror() : "");
        return 2;
    }
    fake_driver *(*state)(void);
    *(void **)&state = function(library, "fake_driver_state");
    *(void **)&set_current = function(library, "fake_driver_set_current");
    driver = state();
    context = create_cpu_context(2);
    CHECK_STATUS(TOPK_OK, topk_simple_create(NULL, &simple));
    set_current(1);
    check_operations();
    check_accumulators();
    check_without_context();
    check_without_elements();
    check_calls_of_driver();
    check_early(early);
    CHECK(dlclose(library) == 0); /* the contexts keep it */
    begin_select_on_device();
    EXPECT(&f, call_select, TOPK_ERROR_CONTRADICTION);
    topk_simple_destroy(simple);
    topk_context_destroy(context);
    CHECK(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD) == NULL);
    fixture_init(&f, early);
    EXPECT(&f, call_select, TOPK_OK);
    topk_context_destroy(early);
    return check_report();
}
