/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "elements.h"
#include "gaps.h"
#include "topk_advanced.h"

enum { PLAN_TEXT_BYTES = 256 };

static bool in_graphs;

void run_in_graphs(void) {
    in_graphs = true;
}

run_result run_fail(const char *format, ...) {
    va_list arguments;
    fputs("    ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return RUN_FAILED;
}

bool wants_values(const instance *i) {
    return i->source->value[DIM_OUTPUTS] == OUTPUTS_BOTH || i->source->value[DIM_OUTPUTS] == OUTPUTS_VALUES;
}

bool wants_indices(const instance *i) {
    return i->source->value[DIM_OUTPUTS] == OUTPUTS_BOTH || i->source->value[DIM_OUTPUTS] == OUTPUTS_INDICES;
}

static device_buffer dirty_workspace(const test_case *c, size_t bytes) {
    static const long offsets[] = {0, 1, 3, GUARDED_AT_END};
    static const int contents[] = {0x00, 0xff, 0xa5, DEVICE_GARBAGE};
    const int64_t level = c->value[DIM_WORKSPACE];
    return device_workspace(bytes, offsets[level], contents[level], c->seed);
}

/* The workspace that the problem asks for; with a limit of half of that, if the method can do with it. */
static topk_status workspace_bytes(const topk_context *context, topk_operation operation, const test_case *c,
                                   topk_problem *problem, size_t *bytes) {
    size_t limited;
    topk_status status = topk_workspace_size(context, operation, problem, bytes);
    if (status != TOPK_OK || c->value[DIM_LIMIT] != LIMIT_HALF || *bytes <= 1) {
        return status;
    }
    problem->workspace_limit = *bytes / 2;
    status = topk_workspace_size(context, operation, problem, &limited);
    if (status == TOPK_ERROR_METHOD_CANNOT) {
        problem->workspace_limit = 0;
        return TOPK_OK;
    }
    *bytes = limited;
    return status;
}

device_buffer run_output(bool wanted, int64_t count, size_t element_bytes) {
    return wanted ? device_output((size_t)count * element_bytes, RUN_POISON) : (device_buffer){.data = NULL};
}

uint64_t run_output_bits(topk_type type, const device_buffer *output, int64_t i) {
    return element_get_bits(type, output->seen, i);
}

static void release(run *r) {
    device_free(&r->workspace);
    for (int o = 0; o < RUN_OUTPUTS; o++) {
        device_free(&r->outputs[o]);
    }
    r->operation->end(r);
}

/* Half of the cases go through a plan. */
static bool is_planned(const run *r) {
    return r->operation->give != NULL && r->instance->source->seed / 4 % 2 == 0;
}

/* Copies a text; NULL stays NULL. */
static const char *copied(const char *text, char copy[PLAN_TEXT_BYTES]) {
    (void)snprintf(copy, PLAN_TEXT_BYTES, "%s", text != NULL ? text : "");
    return text != NULL ? copy : NULL;
}

/* A plan for just this predicate and these outputs, whose problem and texts are gone when it runs. It ends
 * before the device has done its work. */
static topk_status call_plan(topk_context *context, run *r, topk_input input) {
    char method[PLAN_TEXT_BYTES], tuning[PLAN_TEXT_BYTES];
    topk_problem problem = r->problem;
    topk_plan_what what = TOPK_PLAN_WHAT_INIT;
    topk_plan_properties properties = TOPK_PLAN_PROPERTIES_INIT;
    topk_output output = TOPK_OUTPUT_INIT;
    topk_plan *plan;
    r->operation->give(r, &input, &output);
    what.predicate = input.predicate != NULL ? input.predicate->kind : TOPK_PREDICATE_UNDEFINED;
    what.outputs =
        (output.values != NULL ? TOPK_OUTPUT_VALUES : 0u) |
        (output.indices != NULL ? TOPK_OUTPUT_INDICES : 0u) |
        (output.offsets != NULL ? TOPK_OUTPUT_OFFSETS : 0u) |
        (output.better != NULL ? TOPK_OUTPUT_BETTER : 0u) | (output.equal != NULL ? TOPK_OUTPUT_EQUAL : 0u) |
        (output.counts != NULL ? TOPK_OUTPUT_COUNTS : 0u) | (output.mask != NULL ? TOPK_OUTPUT_MASK : 0u) |
        (output.weights != NULL ? TOPK_OUTPUT_WEIGHTS : 0u) |
        (output.payload != NULL ? TOPK_OUTPUT_PAYLOAD : 0u);
    problem.method = copied(problem.method, method);
    problem.tuning = copied(problem.tuning, tuning);
    topk_status status = topk_plan_create(context, r->operation->operation, &problem, &what, &plan);
    memset(method, '?', sizeof method);
    memset(tuning, '?', sizeof tuning);
    memset(&problem, 0xff, sizeof problem);
    if (status == TOPK_OK && (status = topk_plan_query(plan, &properties)) == TOPK_OK &&
        properties.workspace_bytes != r->workspace.bytes) {
        (void)run_fail("the plan wants %zu bytes of workspace", properties.workspace_bytes);
        status = TOPK_ERROR_WORKSPACE_TOO_SMALL;
    }
    if (status == TOPK_OK) {
        status = topk_plan_run(plan, &input, &output, r->workspace.data, r->workspace.bytes, device_stream());
    }
    topk_plan_destroy(plan);
    return status;
}

/* The call itself, by way of a graph if so asked. */
static run_result start(topk_context *context, run *r) {
    const topk_input input = instance_input(r->instance);
    device_send();
    if (in_graphs && !device_capture_begin()) {
        return run_fail("%s", device_error());
    }
    r->status = is_planned(r) ? call_plan(context, r, input) : r->operation->call(context, r, &input);
    return in_graphs && !device_capture_launch() ? run_fail("%s", device_error()) : RUN_PASSED;
}

/* Whether all methods have to refuse an approximation (CONTRACT.md, 2.5 and 9). */
static bool must_be_exact(const run *r, topk_status status) {
    const topk_problem problem = r->problem;
    if (r->operation->problem != PROBLEM_APPROXIMATE) {
        return false;
    }
    if (problem.type >= TOPK_I8) {
        return status == TOPK_ERROR_UNSUPPORTED;
    }
    const bool loose = problem.shape != TOPK_SHAPE_STRIDED && problem.elements_max < problem.length_max;
    return status == TOPK_ERROR_METHOD_CANNOT && (loose ? problem.elements_max : problem.length_max) > 8192;
}

static bool takes_predicate(topk_operation operation) {
    switch (operation) {
    case TOPK_OPERATION_WHERE:
    case TOPK_OPERATION_SELECT_WHERE:
    case TOPK_OPERATION_KTH_WHERE:
    case TOPK_OPERATION_COUNT:
    case TOPK_OPERATION_MASK:
        return true;
    default:
        return false;
    }
}

/* Whether a GPU has to refuse the predicate: its kernels compare with one arc of points. */
static bool must_be_refused(const run *r) {
    const topk_problem *p = &r->problem;
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    if (!takes_predicate(r->operation->operation) || r->predicate.kind != TOPK_AT_LEAST ||
        topk_context_query(r->context, &properties) != TOPK_OK || properties.backend != TOPK_BACKEND_CUDA) {
        return false;
    }
    const bool has_two_arcs = p->rank == TOPK_BY_MAGNITUDE && p->direction == TOPK_LARGEST &&
                              p->nan == TOPK_NAN_LAST && element_is_float(p->type);
    return has_two_arcs || (r->predicate.threshold_stride > 0 && p->rows > 1);
}

run_result run_begin(topk_context *context, const run_operation *operation, const instance *i,
                     const run_method *method, run *r) {
    size_t bytes = 0;
    if (operation->give == NULL && method->name != NULL) {
        return RUN_CANNOT;
    }
    *r = (run){.operation = operation,
               .context = context,
               .instance = i,
               .problem = operation->operation == TOPK_OPERATION_ROUTE       ? i->route
                          : operation->operation == TOPK_OPERATION_MERGE     ? i->merge
                          : operation->operation == TOPK_OPERATION_SELECT_BY ? i->by
                          : operation->problem == PROBLEM_APPROXIMATE        ? i->approximate
                          : operation->problem == PROBLEM_WITH_RANKS         ? i->ranks
                                                                             : i->problem};
    r->predicate = instance_predicate(i);
    r->routing = instance_routing(i);
    r->lists = instance_lists(i);
    r->problem.method = method->name;
    r->problem.tuning = method->tuning;
    topk_status status = workspace_bytes(context, operation->operation, i->source, &r->problem, &bytes);
    if ((status == TOPK_ERROR_METHOD_CANNOT && method->name != NULL) || must_be_exact(r, status)) {
        return RUN_CANNOT;
    }
    if (status != TOPK_OK) {
        return run_fail("topk_workspace_size: %s: %s", topk_status_string(status), topk_last_error());
    }
    if (r->problem.workspace_limit != 0 && bytes > r->problem.workspace_limit) {
        return run_fail("workspace of %zu bytes exceeds the limit of %zu", bytes, r->problem.workspace_limit);
    }
    r->workspace = dirty_workspace(i->source, bytes);
    operation->make_outputs(r);
    const run_result started = start(context, r);
    if (started == RUN_PASSED && must_be_refused(r) && r->status == TOPK_ERROR_UNSUPPORTED) {
        release(r);
        return RUN_CANNOT;
    }
    if (started == RUN_PASSED && must_be_refused(r)) {
        release(r);
        return run_fail("AT_LEAST is not refused");
    }
    if (started == RUN_PASSED && r->status == TOPK_OK) {
        return RUN_PASSED;
    }
    if (r->status != TOPK_OK) {
        (void)run_fail("%s: %s", topk_status_string(r->status), topk_last_error());
    }
    release(r);
    return RUN_FAILED;
}

run_result run_end(run *r) {
    run_result judged = r->operation->judge(r);
    if (!topk_gaps_intact()) {
        judged = run_fail("wrote between two arrays of the workspace");
    }
    if (!device_intact(&r->workspace)) {
        judged = run_fail("wrote outside of the %zu bytes of workspace", r->workspace.bytes);
    }
    if (!instance_intact(r->instance)) {
        judged = run_fail("wrote to or next to an input");
    }
    for (int o = 0; o < RUN_OUTPUTS; o++) {
        if (!device_intact(&r->outputs[o])) {
            judged = run_fail("wrote outside of output %d", o);
        }
    }
    release(r);
    return judged;
}

run_result run_alone(topk_context *context, const run_operation *operation, const instance *i,
                     const run_method *method) {
    run r;
    const run_result begun = run_begin(context, operation, i, method, &r);
    if (begun != RUN_PASSED) {
        return begun;
    }
    return device_fetch() ? run_end(&r) : run_fail("%s", device_error());
}
