/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU as a device. */
#include "baselines/baselines.h"
#include "data/data.h"
#include "measure/device.h"
#include "measure/pairs.h"

#include <stdio.h>
#include <stdlib.h>

enum { cold_bytes = 1 << 28 };

/* Rivals take up to a hundred times longer than the library, so that they get fewer rounds. */
enum { rival_rounds_divisor = 7, rival_rounds_min = 3 };

typedef struct cpu_state {
    bench_data data;
    bench_reader reader; /* of the data */
} cpu_state;

static const bench_data *data_of(const bench_session *session) {
    const cpu_state *state = session->state;
    return &state->data;
}

static bool open_cpu(bench_session *session) {
    session->state = calloc(1, sizeof(cpu_state));
    return session->state != NULL;
}

static void close_cpu(bench_session *session) {
    cpu_state *state = session->state;
    if (state != NULL) {
        bench_data_free(&state->data);
    }
    free(state);
}

static void describe(const bench_session *session, char *text, size_t bytes) {
    snprintf(text, bytes, "%d threads, %s", session->options.threads, session->features);
}

static bool prepare(bench_session *session, bench_result *result) {
    cpu_state *state = session->state;
    bench_data *data = &state->data;
    const bench_options *options = &session->options;
    if ((!bench_data_fits(data, result->point) &&
         !bench_data_make(data, result->point, options->seed, options->cold ? cold_bytes : 0,
                          options->threads)) ||
        !bench_truth_find(&session->truth, result->point, data->buffer.data)) {
        return bench_fail_to_make(session, result, "out of memory");
    }
    if (!options->once) {
        state->reader = bench_reader_calibrate(data->buffer.data, data->bytes, options->threads);
    }
    return true;
}

static const void *input(const bench_session *session, int64_t turn) {
    return bench_data_copy(data_of(session), turn);
}

static const void *no_mask(const bench_session *session, int64_t turn) {
    (void)session, (void)turn;
    return NULL;
}

static bool finish(bench_session *session) {
    (void)session;
    return true;
}

static const char *no_error(void) {
    return "";
}

static bool is_alive(void) {
    return true;
}

static bool check(bench_session *session, const bench_outputs *outputs, bench_result *result) {
    return bench_check(&session->truth, result->point, data_of(session)->buffer.data, NULL, outputs,
                       result->reason, sizeof result->reason);
}

static bool time_pairs(bench_session *session, bench_work work, const bench_reference *reference,
                       const bench_outputs *outputs, bench_result *result) {
    const cpu_state *state = session->state;
    const int rounds = session->options.runs, fewer = rounds / rival_rounds_divisor;
    const bool where = result->point->operation == TOPK_OPERATION_WHERE;
    const bench_pairing pairing = {.data = &state->data,
                                   .reader = &state->reader,
                                   .subject = work,
                                   .reference = reference,
                                   .written_bytes = where ? outputs->index_bytes : 0,
                                   .threads = session->options.threads};
    result->runs = reference == NULL ? rounds : fewer < rival_rounds_min ? rival_rounds_min : fewer;
    result->reader = state->reader.name;
    result->reader_threads = state->reader.threads;
    return bench_pairs(&pairing, result);
}

/* A rival at work. */
typedef struct baseline {
    const bench_baseline *kind;
    bench_task task;
    const bench_data *data;
    bench_outputs outputs;
    bench_buffer scratch;
} baseline;

static const char *rival_name(int i) {
    return i < bench_baseline_count ? bench_baselines[i].name : NULL;
}

static bool rival_can(int i, const bench_point *point) {
    return bench_baselines[i].can(point);
}

static bool run_baseline(void *state, int64_t turn) {
    baseline *self = state;
    self->task.input = bench_data_copy(self->data, turn);
    self->kind->run(&self->task);
    return true;
}

static bool rival_make(bench_session *session, int i, const bench_point *point, bench_rival *rival) {
    baseline *self = calloc(1, sizeof *self);
    *rival = (bench_rival){.state = self};
    if (self == NULL) {
        return false;
    }
    rival->threads = bench_baseline_threads(point, session->options.threads);
    rival->workspace_bytes = bench_baseline_scratch(point, rival->threads);
    rival->outputs = &self->outputs;
    rival->work = (bench_work){run_baseline, self, false};
    self->kind = &bench_baselines[i];
    self->data = data_of(session);
    const bool where = point->operation == TOPK_OPERATION_WHERE;
    const bool made = bench_outputs_make(&self->outputs, &bench_host_memory, point,
                                         where ? session->truth.matches : point->k) &&
                      bench_host_memory.make(&self->scratch, rival->workspace_bytes);
    self->outputs.indices = self->kind->gives_indices ? self->outputs.indices : NULL;
    self->task = (bench_task){.point = point,
                              .outputs = &self->outputs,
                              .bound = session->truth.bound.value.f64, /* they take floats alone */
                              .threads = session->options.threads,
                              .scratch = self->scratch.data};
    return made;
}

static void rival_free(bench_rival *rival) {
    baseline *self = rival->state;
    if (self != NULL) {
        bench_outputs_free(&self->outputs);
        bench_host_memory.free(&self->scratch);
    }
    free(self);
}

static const char *deaf_reader(bench_session *session) {
    (void)session;
    return bench_read_self_test();
}

const bench_device bench_cpu = {
    .name = "cpu",
    .serves_all = true,
    .memory = &bench_host_memory,
    .open = open_cpu,
    .close = close_cpu,
    .describe = describe,
    .prepare = prepare,
    .input = input,
    .mask = no_mask,
    .finish = finish,
    .error = no_error,
    .alive = is_alive,
    .check = check,
    .time = time_pairs,
    .rival_name = rival_name,
    .rival_can = rival_can,
    .rival_make = rival_make,
    .rival_free = rival_free,
    .deaf_reader = deaf_reader,
};
