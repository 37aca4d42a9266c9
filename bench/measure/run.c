/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/run.h"

#include "measure/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { cold_bytes = 1 << 28 };

/* Rivals take up to a hundred times longer than the library, so that they get fewer rounds. */
enum { rival_rounds_divisor = 7, rival_rounds_min = 3 };

static bool fail(bench_result *result, const char *why) {
    result->correct = false;
    snprintf(result->reason, sizeof result->reason, "%s", why);
    return false;
}

/* Data and truth of the point. */
static bool prepare(bench_session *session, const bench_point *point) {
    return bench_data_make(&session->data, point, session->seed, session->cold ? cold_bytes : 0,
                           session->threads) &&
           bench_truth_find(&session->truth, point, session->data.base);
}

static bool check(const bench_session *session, const bench_outputs *outputs, bench_result *result) {
    result->correct = bench_check(&session->truth, result->point, session->data.base, NULL, outputs,
                                  result->reason, sizeof result->reason);
    return result->correct;
}

/* Times the subject once its first result has been found right, and looks at the last one too. */
static bool check_and_time(const bench_session *session, const bench_pairing *pairing, bench_outputs *outputs,
                           bool tamper, bench_result *result) {
    bench_outputs_poison(outputs, result->point->rows);
    if (!pairing->subject.run(pairing->subject.state, session->data.base)) {
        return fail(result, topk_last_error());
    }
    if (tamper) {
        session->tamper(result->point, outputs);
    }
    if (!check(session, outputs, result)) {
        return false;
    }
    result->pairs = pairing->rounds;
    result->reader = pairing->reader->name;
    result->reader_threads = pairing->reader->threads;
    if (!bench_pairs(pairing, &result->times)) {
        return fail(result, "failed while it was timed");
    }
    if (!check(session, outputs, result)) {
        memset(&result->times, 0, sizeof result->times);
    }
    return result->correct;
}

typedef struct rival {
    const bench_baseline *baseline;
    bench_task task;
} rival;

static bool run_baseline(void *state, const void *input) {
    rival *self = state;
    self->task.input = input;
    self->baseline->run(&self->task);
    return true;
}

static bool run_rival(const bench_session *session, const bench_baseline *baseline, const bench_pairing *own,
                      bench_result *result) {
    const bench_point *point = result->point;
    bench_outputs outputs;
    const double bound = session->truth.bound.value.f64; /* they take floats alone */
    rival self = {baseline, {point, NULL, &outputs, bound, session->threads, NULL}};
    bench_pairing pairing = *own;
    bool ok = bench_outputs_make(&outputs, point, session->truth.matches);
    if (!baseline->gives_indices) {
        free(outputs.indices);
        outputs.indices = NULL;
    }
    result->name = baseline->name;
    result->threads = bench_baseline_threads(point, session->threads);
    result->workspace_bytes = bench_baseline_scratch(point, result->threads);
    self.task.scratch = bench_allocate(result->workspace_bytes);
    ok = ok && self.task.scratch != NULL;
    pairing.reference = own->subject;
    pairing.subject = (bench_timed){run_baseline, &self};
    pairing.rounds = own->rounds / rival_rounds_divisor;
    pairing.rounds = pairing.rounds < rival_rounds_min ? rival_rounds_min : pairing.rounds;
    ok = ok ? check_and_time(session, &pairing, &outputs, false, result) : fail(result, "out of memory");
    free(self.task.scratch);
    bench_outputs_free(&outputs);
    return ok;
}

/* The library and its rivals on data that is ready. */
static bool run_all(const bench_session *session, bench_call *call, bench_result *result, bench_sink *sink,
                    void *state) {
    const bench_data *data = &session->data;
    const bench_reader reader = bench_reader_calibrate(data->base, data->bytes, session->threads);
    const bool where = result->point->operation == TOPK_OPERATION_WHERE;
    const bench_pairing pairing = {.data = data,
                                   .reader = &reader,
                                   .subject = {bench_call_run, call},
                                   .written_bytes = where ? call->outputs->index_bytes : 0,
                                   .threads = session->threads,
                                   .rounds = session->pairs};
    bool all = check_and_time(session, &pairing, call->outputs, session->tamper != NULL, result);
    result->times.to_reference = 1;
    const bool working = result->correct;
    sink(state, session, result);
    for (int i = 0; session->rivals && working && i < bench_baseline_count; ++i) {
        bench_result other = {.point = result->point, .k = result->k};
        if (bench_baselines[i].can(result->point)) {
            all = run_rival(session, &bench_baselines[i], &pairing, &other) && all;
            sink(state, session, &other);
        }
    }
    return all;
}

bool bench_run(bench_session *session, const bench_point *point, bench_sink *sink, void *state) {
    bench_result result = {.point = point, .name = "topk", .threads = session->threads, .k = point->k};
    bench_call call = {0};
    bench_outputs outputs = {0};
    bool ok = prepare(session, point) && bench_outputs_make(&outputs, point, session->truth.matches);
    if (!ok) {
        fail(&result, "out of memory");
    } else {
        if (point->operation == TOPK_OPERATION_WHERE) {
            result.k = session->truth.matches;
        }
        const topk_status status = bench_call_make(&call, session->context, point, &session->truth, &outputs);
        result.workspace_bytes = call.workspace_bytes;
        call.workspace = status == TOPK_OK ? bench_allocate(call.workspace_bytes) : NULL;
        ok = call.workspace != NULL || fail(&result, status == TOPK_OK ? "out of memory" : topk_last_error());
    }
    if (ok) {
        ok = run_all(session, &call, &result, sink, state);
    } else {
        sink(state, session, &result);
    }
    free(call.workspace);
    bench_outputs_free(&outputs);
    return ok;
}

void bench_session_free(bench_session *session) {
    bench_data_free(&session->data);
}
