/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU as a device. Machines are shared and their memory's speed wanders, so that times taken minutes
 * apart cannot be compared. Rounds are timed instead: in each, one read, the subject, and what it is to be
 * compared with, one right after the other; and the figures are medians of the rounds' ratios. */
#include "measure/rivals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sample lasts at least this long, so that the clock's own time does not show; what is shorter is
 * repeated within it. */
static const double sample_seconds = 5e-5;
enum { repeats_max = 10000 };

/* Together the two buffers of the copy are as large as the input and what is written, within reason:
 * then the copy is served by the same level of memory. */
enum { copy_bytes_min = 1 << 20, copy_bytes_max = 1 << 28 };

/* Rivals take up to a hundred times longer than the library, so that they get fewer rounds. */
enum { rival_rounds_divisor = 7, rival_rounds_min = 3 };

static void describe(const bench_session *session, char *text, size_t bytes) {
    snprintf(text, bytes, "%d threads, %s", session->options.threads, session->features);
}

static bool prepare(bench_session *session, bench_result *result) {
    bench_data *data = &session->data;
    const bench_options *options = &session->options;
    if ((!bench_data_fits(data, result->point) &&
         !bench_data_make(data, result->point, &options->source, bench_cold_bytes(session),
                          options->threads)) ||
        !bench_truth_find(&session->truth, result->point, data->buffer.data)) {
        return bench_fail_to_make(session, result, "out of memory");
    }
    session->truth.offsets = data->offsets.data;
    if (!options->once) {
        session->reader = bench_reader_calibrate(data->buffer.data, data->bytes, options->threads);
    }
    return true;
}

static bool finish(bench_session *session) {
    (void)session;
    return true;
}

static const char *no_error(void) {
    return "";
}

static bool check(bench_session *session, const bench_outputs *outputs, bench_result *result) {
    return bench_check(&session->truth, result->point, session->data.buffer.data, NULL, outputs,
                       result->reason, sizeof result->reason);
}

static bool run_read(void *state, int64_t turn) {
    const bench_session *session = state;
    bench_read(&session->reader, bench_data_copy(&session->data, turn), session->data.bytes);
    return true;
}

typedef struct copier {
    bench_buffer from, to;
    int threads;
} copier;

static bool copier_make(copier *copy, size_t bytes) {
    bytes = bytes < copy_bytes_min ? copy_bytes_min : bytes > copy_bytes_max ? copy_bytes_max : bytes;
    return bench_buffer_make(&bench_host_memory, &copy->from, bytes) &&
           bench_buffer_make(&bench_host_memory, &copy->to, bytes) && bench_buffer_poison(&copy->from) &&
           bench_buffer_poison(&copy->to);
}

static bool run_copy(void *state, int64_t turn) {
    (void)turn;
    const copier *copy = state;
    const size_t share = copy->to.bytes / (size_t)copy->threads;
#pragma omp parallel for schedule(static, 1) num_threads(copy->threads)
    for (int part = 0; part < copy->threads; ++part) {
        const size_t first = share * (size_t)part;
        const size_t bytes = part == copy->threads - 1 ? copy->to.bytes - first : share;
        memcpy((char *)copy->to.data + first, (const char *)copy->from.data + first, bytes);
    }
    return true;
}

/* Seconds of one run; negative if it failed. Each takes the next turn, so that with several copies of the
 * input none is still in a cache when its turn comes again. */
static double sample(bench_work work, int repeats, int64_t *turn) {
    const double begin = bench_seconds();
    for (int i = 0; i < repeats; ++i) {
        if (!work.enqueue(work.state, (*turn)++)) {
            return -1;
        }
    }
    return (bench_seconds() - begin) / repeats;
}

/* How often a run is to be repeated in a sample; -1 if it fails. */
static int repeats_for(bench_work work, int64_t *turn) {
    (void)sample(work, 1, turn);
    const double once = sample(work, 1, turn);
    return once < 0 ? -1 : (int)fmin(fmax(ceil(sample_seconds / once), 1), repeats_max);
}

/* What is timed in each round, and what follows from it. Each has a number for each round. */
enum { of_read, of_copy, of_subject, of_reference, works_count };
enum { limit = works_count, to_limit, to_reference, series_count };

/* Seconds, 0 of works that are not in use: their enqueue is NULL. */
static bool run_rounds(const bench_work *works, double *const *series, int rounds) {
    int64_t turn = 0;
    int repeats[works_count];
    for (int w = 0; w < works_count; ++w) {
        repeats[w] = works[w].enqueue != NULL ? repeats_for(works[w], &turn) : 0;
        if (repeats[w] < 0) {
            return false;
        }
    }
    for (int i = 0; i < rounds * works_count; ++i) {
        const int w = i % works_count;
        double *seconds = &series[w][i / works_count];
        *seconds = repeats[w] > 0 ? sample(works[w], repeats[w], &turn) : 0;
        if (*seconds < 0) {
            return false;
        }
    }
    return true;
}

/* The limit allows for a read, and for the written bytes at the speed of a copy by all threads. */
static void summarise(double *const *series, size_t written_bytes, size_t copy_bytes, bench_result *result) {
    double medians[series_count];
    for (int i = 0; i < result->runs; ++i) {
        /* A copy moves each of its bytes twice. */
        const double per_byte = copy_bytes > 0 ? series[of_copy][i] / (2.0 * (double)copy_bytes) : 0;
        const double reference = series[of_reference][i];
        series[limit][i] = series[of_read][i] + (double)written_bytes * per_byte;
        series[to_limit][i] = series[of_subject][i] / series[limit][i];
        series[to_reference][i] = reference > 0 ? series[of_subject][i] / reference : 1;
    }
    result->to_limit = bench_quartiles_of(series[to_limit], result->runs);
    for (int s = 0; s < series_count; ++s) {
        medians[s] = bench_quartiles_of(series[s], result->runs).median;
    }
    result->read_us = 1e6 * medians[of_read];
    result->call_us = result->host_us = 1e6 * medians[of_subject];
    result->limit_us = 1e6 * medians[limit];
    result->to_topk = medians[to_reference];
}

static bool time_pairs(bench_session *session, bench_work work, const bench_reference *reference,
                       const bench_outputs *outputs, bench_result *result) {
    const int rounds = session->options.runs, fewer = rounds / rival_rounds_divisor;
    const bool where = result->point->operation == TOPK_OPERATION_WHERE;
    const size_t written_bytes = where ? outputs->index_bytes : 0;
    copier copy = {.threads = session->options.threads};
    bench_work works[works_count] = {[of_read] = {run_read, session, false}, [of_subject] = work};
    result->runs = reference == NULL ? rounds : fewer < rival_rounds_min ? rival_rounds_min : fewer;
    result->reader = session->reader.name;
    result->reader_threads = session->reader.threads;
    if (reference != NULL) {
        works[of_reference] = reference->work;
    }
    double *series[series_count] = {calloc((size_t)series_count * (size_t)result->runs, sizeof(double))};
    bool ok = series[0] != NULL;
    for (int s = 1; ok && s < series_count; ++s) {
        series[s] = series[s - 1] + result->runs;
    }
    if (written_bytes > 0) {
        works[of_copy] = (bench_work){run_copy, &copy, false};
        ok = ok && copier_make(&copy, (session->data.bytes + written_bytes) / 2);
    }
    ok = ok && run_rounds(works, series, result->runs);
    if (ok) {
        summarise(series, written_bytes, copy.to.bytes, result);
    }
    free(series[0]);
    bench_buffer_free(&copy.from);
    bench_buffer_free(&copy.to);
    return ok;
}

static const char *deaf_reader(bench_session *session) {
    (void)session;
    return bench_read_self_test();
}

const bench_device bench_cpu = {
    .name = "cpu",
    .serves_all = true,
    .memory = &bench_host_memory,
    .describe = describe,
    .prepare = prepare,
    .finish = finish,
    .error = no_error,
    .check = check,
    .time = time_pairs,
    .rivals = {bench_baselines},
    .deaf_reader = deaf_reader,
};
