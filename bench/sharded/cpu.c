/* SPDX-License-Identifier: Apache-2.0
 *
 * Times by the clock. */
#include "sharded/sharded.h"

static int threads;
static const void *subject;
static size_t subject_bytes;
static bench_reader reader;
static double marks[SHARDED_STEPS];
static int marks_set;

static bool open_cpu(const topk_context *context) {
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    const bool ok = topk_context_query(context, &properties) == TOPK_OK;
    threads = properties.threads;
    return ok;
}

static void close_cpu(void) {
}

static topk_stream no_stream(void) {
    return NULL;
}

static const char *no_error(void) {
    return "";
}

static bool fill(const bench_filling *filling, void *elements, int64_t count) {
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < count; ++i) {
        element_put_bits(filling->how.type, elements, i, bench_element(filling, i));
    }
    return true;
}

static bool find_reader(const void *elements, size_t bytes) {
    subject = elements;
    subject_bytes = bytes;
    reader = bench_reader_calibrate(elements, bytes, threads);
    return true;
}

static bool read_us(double *us) {
    const double begin = bench_seconds();
    bench_read(&reader, subject, subject_bytes);
    *us = 1e6 * (bench_seconds() - begin);
    return true;
}

static bool mark(void) {
    marks[marks_set++] = bench_seconds();
    return true;
}

static bool time_work(bench_work work, double us[SHARDED_STEPS]) {
    marks_set = 0;
    const bool ok = work.enqueue(work.state, 0);
    for (int i = 0; i + 1 < marks_set; ++i) {
        us[i] = 1e6 * (marks[i + 1] - marks[i]);
    }
    return ok;
}

const sharded_device sharded_cpu = {.backend = TOPK_BACKEND_CPU,
                                    .memory = &bench_host_memory,
                                    .open = open_cpu,
                                    .close = close_cpu,
                                    .stream = no_stream,
                                    .error = no_error,
                                    .fill = fill,
                                    .find_reader = find_reader,
                                    .read_us = read_us,
                                    .time = time_work,
                                    .mark = mark};
