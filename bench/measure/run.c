/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/rivals.h"
#include "points/suites.h"
#include "topk_accumulator.h"

#include <stdio.h>
#include <string.h>

bool bench_fail(const bench_session *session, bench_result *result, bench_outcome outcome, const char *why) {
    result->outcome = session->device->serves_all ? BENCH_WRONG : outcome;
    snprintf(result->reason, sizeof result->reason, "%s", why);
    return false;
}

bool bench_fail_somewhere(const bench_session *session, bench_result *result) {
    const char *why = session->device->error();
    return bench_fail(session, result, BENCH_WRONG, why[0] != '\0' ? why : topk_last_error());
}

bool bench_fail_to_make(const bench_session *session, bench_result *result, const char *what) {
    const char *why = session->device->error();
    return why[0] != '\0' ? bench_fail(session, result, BENCH_WRONG, why)
                          : bench_fail(session, result, BENCH_SKIPPED, what);
}

/* Whether the outputs are right and nothing was written beside them. */
static bool check(bench_session *session, const bench_outputs *outputs, bench_result *result) {
    if (!session->device->check(session, outputs, result)) {
        result->outcome = BENCH_WRONG;
        return false;
    }
    if (result->point->operation == TOPK_OPERATION_ROUTE &&
        !bench_model_routes(session, result->point, outputs)) {
        return bench_fail(session, result, BENCH_WRONG, "other experts or weights than the model's");
    }
    return bench_outputs_all(outputs, bench_buffer_intact) ||
           bench_fail(session, result, BENCH_WRONG, "written beside the outputs");
}

/* Runs the work once and checks its results; if they are right, times it, and looks at the last ones too. */
static void check_and_time(bench_session *session, bench_work work, const bench_reference *reference,
                           bench_outputs *outputs, bench_result *result) {
    const bench_device *device = session->device;
    if (!bench_outputs_all(outputs, bench_buffer_poison) || !work.enqueue(work.state, 0) ||
        !device->finish(session) ||
        (session->spoil != NULL && !bench_outputs_spoil(outputs, result->point, session->spoil))) {
        bench_fail_somewhere(session, result);
        return;
    }
    if (!check(session, outputs, result) || session->options.once) {
        return;
    }
    if (!bench_outputs_all(outputs, bench_buffer_poison) ||
        !device->time(session, work, reference, outputs, result)) {
        bench_fail_somewhere(session, result);
        return;
    }
    (void)check(session, outputs, result);
}

/* The call of the library that a point stands for, as work. */
typedef struct library {
    const bench_session *session;
    const bench_point *point;
    topk_problem problem;
    char tuning[BENCH_SETTINGS_BYTES];
    topk_predicate predicate;
    bool prepared; /* the input is there */
} library;

/* All of the input, chunk by chunk. */
static topk_status accumulate(const library *self, const topk_input *input) {
    const bench_session *session = self->session;
    const bench_outputs *out = &session->outputs;
    const topk_problem *problem = &self->problem;
    topk_context *context = session->context;
    void *state = session->workspace.data;
    const size_t bytes = session->workspace.bytes;
    topk_input chunk = *input;
    topk_status status = topk_accumulator_init(context, problem, state, bytes, session->stream);
    for (int64_t at = 0; status == TOPK_OK && at < self->point->n; at += problem->length_max) {
        const int64_t rest = self->point->n - at;
        chunk.values = (const char *)input->values + (size_t)at * topk_type_size(problem->type);
        status = topk_accumulator_push(context, problem, state, bytes, &chunk,
                                       rest < problem->length_max ? rest : problem->length_max, at,
                                       session->stream);
    }
    return status != TOPK_OK ? status
                             : topk_accumulator_finish(context, problem, state, bytes, out->values,
                                                       out->indices, session->stream);
}

/* Only outputs that the operation has are there. */
static topk_status call(const library *self, topk_input *input, const topk_predicate *predicate) {
    const bench_session *session = self->session;
    const topk_operation operation = self->point->operation;
    const bench_outputs *out = &session->outputs;
    topk_output output = TOPK_OUTPUT_INIT;
    output.values = operation == TOPK_OPERATION_KTH ? out->kth : out->values;
    output.indices = out->indices;
    output.capacity = out->capacity;
    output.offsets = out->offsets;
    output.better = out->better;
    output.equal = out->equal;
    output.counts = out->counts;
    output.mask = out->mask;
    output.weights = out->weights;
    input->predicate = bench_has_predicate(self->point) ? predicate : NULL;
    input->routing = operation == TOPK_OPERATION_ROUTE ? &session->routing : NULL;
    return topk_run(session->context, operation, &self->problem, input, &output, session->workspace.data,
                    session->workspace.bytes, session->stream);
}

static bool enqueue_call(void *state, int64_t turn) {
    const library *self = state;
    const bench_data *data = &self->session->data, *mask = &self->session->mask;
    topk_input input = TOPK_INPUT_INIT;
    topk_predicate predicate = self->predicate;
    input.values = bench_reads_data(self->point) ? bench_data_copy(data, turn) : NULL;
    input.offsets = data->offsets.data;
    predicate.mask = bench_has_mask(self->point) ? bench_data_copy(mask, turn) : NULL;
    return (self->point->chunk > 0 ? accumulate(self, &input) : call(self, &input, &predicate)) == TOPK_OK;
}

static void describe(library *self) {
    static const topk_predicate_kind kinds[] = {TOPK_GT, TOPK_LE, TOPK_BYTE_MASK, TOPK_BIT_MASK};
    const bench_point *point = self->point;
    self->problem = (topk_problem)TOPK_PROBLEM_INIT;
    self->problem.type = point->type;
    self->problem.index_type = point->index_type;
    self->problem.direction = point->direction;
    self->problem.ties = point->ties;
    self->problem.order = point->order;
    self->problem.nan = point->nan;
    self->problem.rows = point->rows;
    self->problem.length_max = point->chunk > 0 && point->chunk < point->n ? point->chunk : point->length_max;
    if (point->lengths == BENCH_EVEN) {
        self->problem.row_stride = point->n;
    } else {
        self->problem.shape = TOPK_SHAPE_CSR;
        self->problem.extent_type = TOPK_INDEX_I64;
        self->problem.elements_max = point->elements;
    }
    self->problem.k_max = point->k;
    self->problem.max_iterations = point->max_iterations;
    self->problem.epsilon = point->epsilon;
    self->problem.epsilon_relative = point->epsilon_relative;
    self->problem.method = point->method[0] != '\0' ? point->method : NULL;
    self->problem.tuning = bench_settings_read(point->tuning, point->n, self->tuning) ? self->tuning : NULL;
    self->predicate = (topk_predicate)TOPK_PREDICATE_INIT;
    self->predicate.kind = kinds[point->predicate];
    self->predicate.low = self->session->truth.bound;
}

/* Makes the input, the call, and room for its results and its workspace. */
static bool prepare(bench_session *session, library *self, bench_result *result) {
    const bench_point *point = self->point = result->point;
    const bench_memory *memory = session->device->memory;
    size_t workspace_bytes = 0;
    self->session = session;
    self->prepared = false;
    session->truth = (bench_truth){.matches = 0};
    if (!bench_source_serves(&session->options.source, point)) {
        return bench_fail(session, result, BENCH_SKIPPED, "the files have too few vectors");
    }
    self->prepared = session->device->prepare(session, result);
    if (!self->prepared) {
        return false;
    }
    describe(self);
    result->k = bench_has_predicate(point) && !bench_has_k(point) ? session->truth.matches : point->k;
    if (!bench_outputs_make(&session->outputs, memory, point, result->k)) {
        return bench_fail_to_make(session, result, "the outputs do not fit");
    }
    const topk_status status =
        point->chunk > 0
            ? topk_accumulator_size(session->context, &self->problem, &workspace_bytes)
            : topk_workspace_size(session->context, point->operation, &self->problem, &workspace_bytes);
    result->workspace_bytes = workspace_bytes;
    if (status != TOPK_OK) {
        const bool cannot = status == TOPK_ERROR_METHOD_CANNOT || status == TOPK_ERROR_UNSUPPORTED;
        return bench_fail(session, result, cannot ? BENCH_REFUSED : BENCH_WRONG, topk_last_error());
    }
    if (!bench_model_prepare(session, &self->problem, result)) {
        return bench_fail_to_make(session, result, "the model does not fit");
    }
    /* The workspace may hold garbage, so that is what it gets. */
    if (!bench_buffer_make(memory, &session->workspace, workspace_bytes)) {
        return bench_fail_to_make(session, result, "the workspace does not fit");
    }
    return bench_buffer_poison(&session->workspace) || bench_fail_somewhere(session, result);
}

static void hand_over(bench_session *session, bench_result *result, bench_sink *sink, void *state) {
    if (result->outcome != BENCH_RIGHT) {
        result->call_us = result->host_us = 0;
        session->lost = !session->device->finish(session);
    }
    sink(state, session, result);
}

static bench_result blank_of(const bench_point *point, const char *launch) {
    return (bench_result){
        .point = point, .name = "topk", .launch = launch, .k = point->k, .reader = "", .to_topk = 1};
}

/* What the library gives for a point: a call, and its replay if that is asked for. */
typedef struct library_results {
    bench_result eager, graph;
} library_results;

/* Runs the library alone. `plain` are the results of select on the same data, or zero. */
static library_results run_library(bench_session *session, const bench_point *point, library *self,
                                   const library_results *plain, bench_sink *sink, void *state) {
    const bench_device *device = session->device;
    library_results own = {blank_of(point, device->capture != NULL ? "eager" : ""), blank_of(point, "graph")};
    const bench_work work = {enqueue_call, self, bench_is_long(point)};
    own.eager.plain_us = plain->eager.call_us;
    own.graph.plain_us = plain->graph.call_us;
    own.eager.threads = session->options.threads;
    if (prepare(session, self, &own.eager)) {
        check_and_time(session, work, NULL, &session->outputs, &own.eager);
        if (own.eager.outcome == BENCH_RIGHT && !bench_buffer_intact(&session->workspace)) {
            bench_fail(session, &own.eager, BENCH_WRONG, "written beside the workspace");
        }
    }
    hand_over(session, &own.eager, sink, state);
    if (own.eager.outcome == BENCH_RIGHT && session->options.graph && device->capture != NULL &&
        !session->lost) {
        bench_work replay;
        own.graph.workspace_bytes = own.eager.workspace_bytes;
        own.graph.k = own.eager.k;
        if (device->capture(session, work, &replay, &own.graph)) {
            check_and_time(session, replay, NULL, &session->outputs, &own.graph);
        }
        device->release(session);
        hand_over(session, &own.graph, sink, state);
    }
    return own;
}

/* The rivals of a table that can do the point. */
static void run_rivals(bench_session *session, const bench_rival_kind *kind, const bench_result *own,
                       const bench_reference *reference, bench_sink *sink, void *state) {
    for (; kind != NULL && kind->name != NULL && !session->lost; ++kind) {
        if (kind->can(own->point)) {
            bench_rival rival;
            bench_result result = blank_of(own->point, own->launch);
            result.name = kind->name;
            result.k = own->k;
            if (bench_rival_make(session, kind, &rival, &result)) {
                const bool waits = (kind->traits & BENCH_RIVAL_WAITS) != 0;
                check_and_time(session, (bench_work){bench_rival_enqueue, &rival, waits}, reference,
                               &rival.outputs, &result);
            } else {
                bench_fail_to_make(session, &result, "does not fit");
            }
            bench_rival_free(&rival);
            hand_over(session, &result, sink, state);
        }
    }
}

/* The same selection from all elements. */
static bench_point without_predicate(const bench_point *point) {
    bench_point plain = *point;
    plain.operation = TOPK_OPERATION_SELECT;
    plain.keep_percent = 0;
    plain.predicate = BENCH_GREATER;
    return plain;
}

bool bench_run(bench_session *session, const bench_point *point, bench_sink *sink, void *state) {
    const bench_point plain_point = without_predicate(point);
    library self;
    library_results plain = {0};
    if (point->operation == TOPK_OPERATION_SELECT_WHERE) {
        plain = run_library(session, &plain_point, &self, &plain, sink, state);
        if (session->lost) {
            return false;
        }
    }
    const bench_result own = run_library(session, point, &self, &plain, sink, state).eager;
    const bench_reference reference = {{enqueue_call, &self, false}, own.call_us};
    session->truth.chosen = NULL; /* rivals are exact */
    const bool wanted = session->options.rivals && self.prepared && own.outcome != BENCH_WRONG &&
                        point->lengths == BENCH_EVEN; /* rivals know no other */
    for (int table = 0; wanted && table < BENCH_RIVAL_TABLES; ++table) {
        run_rivals(session, session->device->rivals[table], &own, &reference, sink, state);
    }
    return wanted;
}

/* What is to be seen of the last result of a point. */
static void note(void *state, const bench_session *session, const bench_result *result) {
    (void)session;
    bench_verdict *seen = state;
    seen->correct = result->outcome == BENCH_RIGHT;
    seen->timed = result->call_us > 0;
    memcpy(seen->reason, result->reason, sizeof seen->reason);
}

static void run_trial(void *state, const bench_point *point, bench_spoil *spoil, bench_verdict *seen) {
    bench_session *session = state;
    session->spoil = spoil;
    (void)bench_run(session, point, note, seen);
    session->spoil = NULL;
}

static bool tell(bool ok, const char *what, const char *but) {
    printf("%-5s %s%s%s\n", ok ? "ok" : "FAIL", what, but != NULL ? ", but for " : "",
           but != NULL ? but : "");
    return ok;
}

bool bench_run_self_test(bench_session *session) {
    const bench_device *device = session->device;
    const char *deaf = device->deaf_reader(session);
    bool ok = tell(deaf == NULL, "every read kernel reads every byte", deaf);
    ok = tell(bench_guards_notice(device->memory), "a byte beside a buffer", NULL) && ok;
    ok = bench_self_test(device->name, run_trial, session) && ok;
    return (device->input_watched == NULL || tell(device->input_watched(session), "a changed input", NULL)) &&
           ok;
}
