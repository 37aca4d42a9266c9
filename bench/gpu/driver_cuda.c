/* SPDX-License-Identifier: Apache-2.0
 *
 * A GPU as a device of the driver. */
#include "gpu/session_cuda.h"
#include "measure/rivals.h"
#include "topk_advanced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Timed runs of a call at least, and runs before them that do not count. */
enum {
    runs_least = 11,
    runs_of_slow = 3,
    warm_up_runs = 2,
    runs_most = BENCH_GRAPHS - warm_up_runs,
    figure_runs = 21
};

/* What one series of timed runs may take, unless the least number of runs takes longer. That number is lower
 * for calls above slow_us. Rivals above slow_rival_us get that lower number of runs and no more. Of rivals
 * above slowest_us one run counts: the first behind the one that is checked. */
static const double budget_us = 1e6, slow_us = 1e5, slow_rival_us = 1e4, slowest_us = 5e5;

static bool find_device(bench_session *session) {
    bench_gpu_state *state = session->state;
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    struct cudaDeviceProp device;
    if (topk_context_query(session->context, &properties) != TOPK_OK ||
        !bench_device_ok(cudaSetDevice(properties.device), "choosing the device") ||
        !bench_device_ok(cudaGetDeviceProperties(&device, properties.device), "the device's properties") ||
        !bench_device_ok(cudaDriverGetVersion(&state->driver), "the driver's version") ||
        !bench_device_ok(cudaRuntimeGetVersion(&state->runtime), "the runtime's version")) {
        return false;
    }
    snprintf(state->name, sizeof state->name, "%s", device.name);
    state->sms = device.multiProcessorCount;
    session->features = state->name;
    return true;
}

static bool measure_figures(bench_session *session) {
    bench_gpu_state *state = session->state;
    bench_quartiles empty_us = {0, 0, 0};
    const bench_work nothing = bench_timer_nothing(&state->timer);
    const bool ok = bench_timer_host(&state->timer, nothing, 1, &empty_us) &&
                    bench_timer_runs(&state->timer, nothing, figure_runs, &empty_us);
    session->empty_us = empty_us.median;
    session->copy_rate = ok ? bench_gpu_copy_rate(&state->timer) : 0;
    return session->copy_rate > 0;
}

static bool open_gpu(bench_session *session) {
    bench_gpu_state *state = session->state = calloc(1, sizeof *state);
    bench_options *options = &session->options;
    options->runs = options->runs < runs_most ? options->runs : runs_most;
    options->threads = 0;
    const bool ok = state != NULL && find_device(session) && bench_timer_make(&state->timer) &&
                    (options->once || measure_figures(session));
    session->stream = ok ? state->timer.stream : NULL;
    if (!ok) {
        fprintf(stderr, "topk-bench: %s\n", state != NULL ? bench_device_error() : "out of memory");
    }
    return ok;
}

static void close_gpu(bench_session *session) {
    bench_gpu_state *state = session->state;
    if (state != NULL) {
        bench_buffer_free(&state->scratch);
        bench_buffer_free(&state->flush);
        bench_buffer_free(&state->queries);
        bench_buffer_free(&state->base);
        bench_buffer_free(&state->file);
        bench_timer_free(&state->timer);
    }
    free(state);
}

static void describe(const bench_session *session, char *text, size_t bytes) {
    const bench_gpu_state *state = session->state;
    snprintf(text, bytes,
             "%s, %d SMs, driver for CUDA %d.%d, runtime %d.%d, an empty kernel %.2f us, a copy %.3f TB/s",
             state->name, state->sms, state->driver / 1000, state->driver % 1000 / 10, state->runtime / 1000,
             state->runtime % 1000 / 10, session->empty_us, session->copy_rate / 1e12);
}

/* By a check of nothing. */
static bool take_checksum(bench_session *session, bench_result *result, uint64_t *checksum) {
    bench_point nothing = session->data.point;
    const bench_outputs none = {0};
    nothing.operation = TOPK_OPERATION_SELECT;
    nothing.k = 0;
    return bench_gpu_check(session, &nothing, &none, result, checksum);
}

/* The truth about the matches, and a mask if the point has one. */
static bool prepare_predicate(bench_session *session, bench_result *result) {
    const bench_point *point = result->point;
    if (!bench_gpu_truth_find(session, point)) {
        return bench_fail_to_make(session, result, "out of memory");
    }
    return !bench_has_mask(point) || bench_gpu_mask_make(session, &session->mask, point, point->predicate) ||
           bench_fail_to_make(session, result, "the mask does not fit");
}

/* What an accumulator gets at a time, in whole words of the read kernels; 0: there is none. */
static size_t piece_of(const bench_point *point) {
    const size_t word = 16, bytes = (size_t)(point->rows * point->chunk) * topk_type_size(point->type);
    return point->chunk < point->n ? (bytes + word - 1) / word * word : 0;
}

/* Times one read of what the calls will read, as they read it, unless that is known. */
static bool prepare_read(bench_session *session, bench_result *result) {
    bench_gpu_state *state = session->state;
    const bool reads_data = bench_reads_data(result->point);
    const size_t piece_bytes = piece_of(result->point);
    if (reads_data && state->subject == &session->data && state->piece_bytes == piece_bytes) {
        return true;
    }
    state->piece_bytes = piece_bytes;
    state->subject = reads_data ? &session->data : &session->mask;
    if (session->options.once || bench_gpu_read_measure(state, session->options.runs)) {
        return true;
    }
    state->subject = NULL;
    bench_data_free(&session->data);
    return bench_fail_somewhere(session, result);
}

static bool prepare(bench_session *session, bench_result *result) {
    bench_gpu_state *state = session->state;
    const bench_point *point = result->point;
    const bool made = !bench_data_fits(&session->data, point);
    bench_data_free(&session->mask);
    if (made && !bench_gpu_data_make(session, point)) {
        return bench_fail_to_make(session, result, "the input does not fit");
    }
    session->truth.offsets = session->data.offsets.data;
    state->subject = made ? NULL : state->subject;
    if (made && !take_checksum(session, result, &state->checksum)) {
        bench_data_free(&session->data);
        result->outcome = BENCH_WRONG;
        return false;
    }
    return (!bench_has_predicate(point) || prepare_predicate(session, result)) &&
           prepare_read(session, result);
}

static bool finish(bench_session *session) {
    (void)session;
    return bench_device_ok(cudaDeviceSynchronize(), "the call");
}

static bool check(bench_session *session, const bench_outputs *outputs, bench_result *result) {
    bench_gpu_state *state = session->state;
    uint64_t checksum;
    if (!bench_gpu_check(session, result->point, outputs, result, &checksum)) {
        return false;
    }
    if (checksum != state->checksum || !bench_buffer_intact(&session->data.buffer) ||
        !bench_buffer_intact(&session->data.offsets) || !bench_buffer_intact(&session->mask.buffer)) {
        bench_data_free(&session->data); /* so that the next point does not suffer for it */
        return bench_fail(session, result, BENCH_WRONG, "the input was changed");
    }
    return true;
}

/* All that is read, a mask beside the input at the rate of the one read. Operations without a k pay for what
 * they write as well, at the rate of a copy. */
static void set_limit(const bench_session *session, const bench_outputs *outputs, bench_result *result) {
    const bench_gpu_state *state = session->state;
    const bool beside =
        bench_reads_data(result->point) && session->mask.copies > 0 && session->data.bytes > 0;
    const double written = (double)(outputs->value_bytes + outputs->index_bytes);
    result->reader = state->read_name;
    result->invalid = state->read_slow;
    result->read_us = state->read_us.median;
    result->mask_us =
        beside ? result->read_us * (double)session->mask.bytes / (double)session->data.bytes : 0;
    const double with_results_us = result->read_us + 1e6 * written / session->copy_rate;
    result->limit_us = bench_has_k(result->point) ? result->read_us + result->mask_us : with_results_us;
    if (result->point->operation == TOPK_OPERATION_SELECT && result->point->lengths != BENCH_EVEN) {
        result->floor_us = with_results_us;
    }
}

static bool time_work(bench_session *session, bench_work work, const bench_reference *reference,
                      const bench_outputs *outputs, bench_result *result) {
    bench_gpu_state *state = session->state;
    bench_timer *timer = &state->timer;
    bench_quartiles us, host_us;
    const bool short_rows = result->point->operation == TOPK_OPERATION_SELECT &&
                            result->point->lengths == BENCH_EVEN && result->point->n <= 8192;
    if (short_rows && reference == NULL &&
        !(bench_gpu_floor_measure(state, outputs, session->options.runs, &result->floor_us) &&
          bench_outputs_all(outputs, bench_buffer_poison))) {
        return false;
    }
    if (!bench_timer_runs(timer, work, 1, &us)) {
        return false;
    }
    const bool slow_rival = reference != NULL && us.median > slow_rival_us;
    if (!slow_rival && !bench_timer_runs(timer, work, warm_up_runs - 1, &us)) {
        return false;
    }
    const int least = us.median > slow_us ? runs_of_slow : runs_least;
    const double affordable = budget_us / us.median;
    result->runs = affordable < session->options.runs ? (int)affordable : session->options.runs;
    result->runs = result->runs < least ? least : result->runs;
    if (slow_rival) {
        result->runs = us.median > slowest_us ? 1 : runs_of_slow;
    }
    if ((state->flush.bytes > 0 && !bench_buffer_poison(&state->flush)) ||
        (result->runs > 1 && !bench_timer_runs(timer, work, result->runs, &us)) ||
        !bench_timer_host(timer, work, slow_rival ? 1 : least, &host_us)) {
        return false;
    }
    set_limit(session, outputs, result);
    result->call_us = us.median;
    result->host_us = host_us.median;
    result->to_limit =
        (bench_quartiles){us.q1 / result->limit_us, us.median / result->limit_us, us.q3 / result->limit_us};
    result->to_topk = reference != NULL && reference->call_us > 0 ? us.median / reference->call_us : 1;
    return true;
}

static bool capture_once(bench_work work, int64_t turn, cudaStream_t stream, cudaGraphExec_t *exec) {
    cudaGraph_t graph = NULL;
    if (!bench_device_ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "a capture")) {
        return false;
    }
    bool ok = work.enqueue(work.state, turn);
    ok = bench_device_ok(cudaStreamEndCapture(stream, &graph), "a capture") && ok;
    ok = ok && bench_device_ok(cudaGraphInstantiate(exec, graph, 0), "a graph") &&
         bench_device_ok(cudaGraphUpload(*exec, stream), "a graph");
    if (graph != NULL) {
        (void)cudaGraphDestroy(graph);
    }
    return ok;
}

static bool replay_graph(void *session_state, int64_t turn) {
    const bench_gpu_state *state = session_state;
    return bench_device_ok(cudaGraphLaunch(state->graphs[turn % state->graph_count], state->timer.stream),
                           "a replay");
}

/* Captures the work for as many copies, far from each other, as there are runs, so that none of them is read
 * twice. */
static bool capture(bench_session *session, bench_work work, bench_work *replay, bench_result *result) {
    bench_gpu_state *state = session->state;
    const int64_t copies = state->subject->copies;
    const int runs = (session->options.runs < runs_least ? runs_least : session->options.runs) + warm_up_runs;
    bool ok = true;
    if (!bench_buffer_make(&bench_device_memory, &state->flush, bench_cold_bytes(session))) {
        return bench_fail(session, result, BENCH_SKIPPED, "out of memory");
    }
    state->graph_count = copies < runs ? (int)copies : runs;
    for (int i = 0; ok && i < state->graph_count; ++i) {
        ok = capture_once(work, copies / state->graph_count * i, session->stream, &state->graphs[i]);
    }
    state->timer.turn = 0;
    *replay = (bench_work){replay_graph, state, false};
    return (ok && bench_device_ok(cudaStreamSynchronize(session->stream), "graphs")) ||
           bench_fail_somewhere(session, result);
}

static void release(bench_session *session) {
    bench_gpu_state *state = session->state;
    for (int i = 0; i < state->graph_count; ++i) {
        if (state->graphs[i] != NULL) {
            (void)cudaGraphExecDestroy(state->graphs[i]);
        }
    }
    memset(state->graphs, 0, sizeof state->graphs);
    bench_buffer_free(&state->flush);
}

/* An input that is not the one the checksum was taken of. */
static bool input_watched(bench_session *session) {
    const bench_gpu_state *state = session->state;
    unsigned char byte = 0, *input = session->data.buffer.data;
    uint64_t checksum = state->checksum;
    bench_result ignored;
    const bool ok = session->data.copies > 0 && bench_device_memory.copy(&byte, input, 1) &&
                    bench_device_ok(cudaMemset(input, byte ^ 1, 1), "spoiling") && finish(session) &&
                    take_checksum(session, &ignored, &checksum) && checksum != state->checksum;
    bench_data_free(&session->data);
    return ok;
}

const bench_device bench_cuda = {
    .name = "cuda",
    .memory = &bench_device_memory,
    .open = open_gpu,
    .close = close_gpu,
    .describe = describe,
    .prepare = prepare,
    .finish = finish,
    .error = bench_device_error,
    .check = check,
    .time = time_work,
    .capture = capture,
    .release = release,
    .rivals = {bench_toolkit_rivals, bench_device_selections, bench_host_selections, bench_device_baselines},
    .rival_prepare = bench_gpu_rival_prepare,
    .deaf_reader = bench_gpu_deaf_reader,
    .input_watched = input_watched,
};
