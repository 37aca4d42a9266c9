/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/graph_cuda.h"
#include "gpu/prepare_cuda.h"
#include "gpu/rivals_cuda.h"
#include "measure/call.h"

#include <string.h>

enum { runs_least = 11, warm_up_runs = 2 };

/* What one series of timed runs may take, unless runs_least take longer. */
static const double budget_us = 1e6;

/* Whether the outputs are right and nothing else was written. */
static bool check(const bench_gpu_session *session, const bench_gpu_outputs *outputs,
                  bench_gpu_result *result) {
    struct bench_gpu_state *state = session->state;
    uint64_t checksum;
    if (!bench_gpu_check(&state->checker, result->point, state->data.buffer.data, outputs,
                         state->timer.stream, &checksum, result->reason, sizeof result->reason)) {
        result->outcome = BENCH_GPU_WRONG;
        return false;
    }
    if (checksum != state->checksum || !bench_buffer_intact(&state->data.buffer, state->timer.stream) ||
        !bench_buffer_intact(&state->mask.buffer, state->timer.stream)) {
        bench_gpu_data_free(&state->data); /* so that the next point does not suffer for it */
        return bench_gpu_fail(result, BENCH_GPU_WRONG, "the input was changed");
    }
    return true;
}

/* What a mask that is read beside the input takes, at the rate of the one read. */
static double mask_us_of(const struct bench_gpu_state *state, const bench_point *point) {
    const bool beside = bench_has_k(point) && state->checker.mask != NULL && state->data.bytes > 0;
    return beside ? state->read.us.median * (double)state->mask.bytes / (double)state->data.bytes : 0;
}

/* All that is read; operations without a k pay for what they write as well, at the rate of a copy. */
static double limit_of(const bench_gpu_session *session, const bench_gpu_outputs *outputs,
                       const bench_gpu_result *result) {
    if (bench_has_k(result->point) || session->copy_rate <= 0) {
        return result->read_us + result->mask_us;
    }
    const double written = (double)(outputs->view.value_bytes + outputs->view.index_bytes);
    return result->read_us + 1e6 * written / session->copy_rate;
}

/* Times what has been found right. */
static bool time_work(const bench_gpu_session *session, bench_work work, bench_gpu_result *result) {
    struct bench_gpu_state *state = session->state;
    bench_timer *timer = &state->timer;
    if (!bench_timer_runs(timer, work, &state->turns, warm_up_runs, &result->call_us)) {
        return false;
    }
    const double affordable = budget_us / result->call_us.q1;
    result->runs = affordable < session->options.runs ? (int)affordable : session->options.runs;
    result->runs = result->runs < runs_least ? runs_least : result->runs;
    if (!session->options.warm && state->flush.bytes > 0 &&
        !bench_buffer_poison(&state->flush, timer->stream)) {
        return false;
    }
    return bench_timer_runs(timer, work, &state->turns, result->runs, &result->call_us) &&
           bench_timer_host(timer, work, &state->turns, runs_least, &result->host_us);
}

/* Runs the work once and checks its results; if they are right, times it, and looks at the last ones too. */
static void check_and_time(const bench_gpu_session *session, bench_work work, bench_gpu_outputs *outputs,
                           bench_gpu_result *result) {
    struct bench_gpu_state *state = session->state;
    const cudaStream_t stream = state->timer.stream;
    bench_spoil *spoil = session->spoil;
    if (!bench_gpu_outputs_poison(outputs, stream) || !work.enqueue(work.state, 0) ||
        !bench_device_ok(cudaStreamSynchronize(stream), "the call") ||
        (spoil != NULL && !bench_gpu_outputs_tamper(outputs, result->point, spoil, stream))) {
        bench_gpu_fail_somewhere(result);
        return;
    }
    if (!check(session, outputs, result) || session->options.once) {
        return;
    }
    result->reader = state->read.name;
    result->read_us = state->read.us.median;
    result->mask_us = mask_us_of(state, result->point);
    result->limit_us = limit_of(session, outputs, result);
    result->invalid = state->read_slow;
    if (!bench_gpu_outputs_poison(outputs, stream) || !time_work(session, work, result)) {
        bench_gpu_fail_somewhere(result);
        return;
    }
    (void)check(session, outputs, result);
}

/* The call of the library, as work. */
typedef struct library_work {
    bench_call call;
    const bench_gpu_data *input, *mask; /* NULL: not read */
} library_work;

static bool enqueue_call(void *state, int64_t turn) {
    library_work *self = state;
    self->call.predicate.mask = self->mask != NULL ? bench_gpu_data_copy(self->mask, turn) : NULL;
    return bench_call_run(&self->call, self->input != NULL ? bench_gpu_data_copy(self->input, turn) : NULL);
}

/* Whether the library takes the problem, and the device holds its workspace. */
static bool describe_call(bench_gpu_session *session, library_work *self, bench_gpu_result *result) {
    struct bench_gpu_state *state = session->state;
    self->mask = state->checker.mask != NULL ? &state->mask : NULL;
    self->input = self->mask == NULL || bench_has_k(result->point) ? &state->data : NULL;
    const topk_status status = bench_call_make(&self->call, session->context, result->point,
                                               &state->checker.truth, &state->outputs.view);
    self->call.stream = state->timer.stream;
    result->workspace_bytes = self->call.workspace_bytes;
    if (status != TOPK_OK) {
        const bool cannot = status == TOPK_ERROR_METHOD_CANNOT || status == TOPK_ERROR_UNSUPPORTED;
        return bench_gpu_fail(result, cannot ? BENCH_GPU_REFUSED : BENCH_GPU_WRONG, topk_last_error());
    }
    if (!bench_buffer_make(&state->workspace, self->call.workspace_bytes)) {
        return bench_gpu_fail(result, BENCH_GPU_SKIPPED, "the workspace does not fit");
    }
    self->call.workspace = state->workspace.data;
    /* It may hold garbage, so that is what it gets. */
    return bench_buffer_poison(&state->workspace, state->timer.stream) || bench_gpu_fail_somewhere(result);
}

/* Captured for as many copies as there are runs, so that none of them is read twice. */
static void run_graphs(bench_gpu_session *session, library_work *self, bench_gpu_result *result) {
    struct bench_gpu_state *state = session->state;
    const int runs = session->options.runs < runs_least ? runs_least : session->options.runs;
    bench_graphs graphs = {0};
    if (!session->options.warm && !bench_buffer_make(&state->flush, bench_gpu_cold_bytes(session))) {
        bench_gpu_fail(result, BENCH_GPU_SKIPPED, "out of memory");
    } else if (!bench_graphs_make(&graphs, (bench_work){enqueue_call, self}, state->subject,
                                  runs + warm_up_runs, state->timer.stream)) {
        bench_gpu_fail_somewhere(result);
    } else {
        state->turns.next = 0;
        check_and_time(session, (bench_work){bench_graphs_enqueue, &graphs}, &state->outputs, result);
    }
    bench_graphs_free(&graphs);
    bench_buffer_free(&state->flush);
}

static void run_rival(bench_gpu_session *session, int i, const bench_gpu_result *own,
                      bench_gpu_result *result) {
    struct bench_gpu_state *state = session->state;
    bench_gpu_rival rival;
    result->name = bench_gpu_rival_name(i);
    if (!bench_gpu_rival_make(&rival, i, result->point, &state->data, &state->checker.truth,
                              bench_gpu_cold_bytes(session), state->timer.stream)) {
        bench_gpu_fail_to_make(result, "does not fit");
    } else {
        result->workspace_bytes = rival.scratch.bytes;
        state->timer.ungated = bench_gpu_rival_waits(&rival);
        check_and_time(session, (bench_work){bench_gpu_rival_enqueue, &rival}, &rival.outputs, result);
        state->timer.ungated = false;
        result->to_topk =
            own->call_us.median > 0 ? result->call_us.median / own->call_us.median : result->to_topk;
    }
    bench_gpu_rival_free(&rival);
}

static void hand_over(bench_gpu_session *session, bench_gpu_result *result, bench_gpu_sink *sink,
                      void *state) {
    if (result->outcome != BENCH_GPU_RIGHT) {
        const bench_quartiles none = {0, 0, 0};
        result->call_us = none;
        result->host_us = 0;
        session->lost = cudaDeviceSynchronize() != cudaSuccess;
    }
    sink(state, session, result);
}

static bench_gpu_result blank_of(const bench_point *point, const char *launch) {
    return (bench_gpu_result){
        .point = point, .name = "topk", .launch = launch, .k = point->k, .reader = "", .to_topk = 1};
}

/* What the library gives for a point: a call, and its replay if that is asked for. */
typedef struct library_results {
    bench_gpu_result eager, graph;
} library_results;

/* Runs the library alone. `plain` are the results of select on the same data, or zero. */
static library_results run_library(bench_gpu_session *session, const bench_point *point,
                                   const library_results *plain, bench_gpu_sink *sink, void *state) {
    library_results own = {blank_of(point, "eager"), blank_of(point, "graph")};
    own.eager.plain_us = plain->eager.call_us.median;
    own.graph.plain_us = plain->graph.call_us.median;
    library_work self;
    if (bench_gpu_prepare(session, point, &own.eager) && describe_call(session, &self, &own.eager)) {
        check_and_time(session, (bench_work){enqueue_call, &self}, &session->state->outputs, &own.eager);
        if (own.eager.outcome == BENCH_GPU_RIGHT &&
            !bench_buffer_intact(&session->state->workspace, session->state->timer.stream)) {
            bench_gpu_fail(&own.eager, BENCH_GPU_WRONG, "written beside the workspace");
        }
    }
    hand_over(session, &own.eager, sink, state);
    if (own.eager.outcome == BENCH_GPU_RIGHT && session->options.graph && !session->lost) {
        own.graph.workspace_bytes = own.eager.workspace_bytes;
        own.graph.k = own.eager.k;
        run_graphs(session, &self, &own.graph);
        hand_over(session, &own.graph, sink, state);
    }
    return own;
}

/* The same selection from all elements. */
static bench_point without_predicate(const bench_point *point) {
    bench_point plain = *point;
    plain.operation = TOPK_OPERATION_SELECT;
    plain.keep_percent = 0;
    plain.predicate = BENCH_GREATER;
    return plain;
}

void bench_gpu_run(bench_gpu_session *session, const bench_point *point, bench_gpu_sink *sink, void *state) {
    const bench_gpu_options *options = &session->options;
    const bench_point plain_point = without_predicate(point);
    library_results plain = {0};
    if (point->operation == TOPK_OPERATION_SELECT_WHERE) {
        plain = run_library(session, &plain_point, &plain, sink, state);
        if (session->lost) {
            return;
        }
    }
    const bench_gpu_result own = run_library(session, point, &plain, sink, state).eager;
    for (int i = 0; options->rivals && !session->lost && session->state->data.copies > 0 &&
                    own.outcome != BENCH_GPU_WRONG && bench_gpu_rival_name(i) != NULL;
         ++i) {
        if (bench_gpu_rival_can(i, point)) {
            bench_gpu_result other = blank_of(point, "eager");
            other.k = own.k;
            run_rival(session, i, &own, &other);
            hand_over(session, &other, sink, state);
        }
    }
}
