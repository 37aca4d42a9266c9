/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/session_cuda.h"

#include <stdio.h>
#include <stdlib.h>

enum { figure_runs = 21, runs_most = 1000 };

static bool describe(bench_gpu_session *session) {
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    struct cudaDeviceProp device;
    if (topk_context_query(session->context, &properties) != TOPK_OK ||
        !bench_device_ok(cudaSetDevice(properties.device), "choosing the device") ||
        !bench_device_ok(cudaGetDeviceProperties(&device, properties.device), "the device's properties") ||
        !bench_device_ok(cudaDriverGetVersion(&session->driver), "the driver's version") ||
        !bench_device_ok(cudaRuntimeGetVersion(&session->runtime), "the runtime's version")) {
        return false;
    }
    snprintf(session->device, sizeof session->device, "%s", device.name);
    session->sms = device.multiProcessorCount;
    return true;
}

static bool measure(bench_gpu_session *session) {
    struct bench_gpu_state *state = session->state;
    bench_quartiles empty_us;
    const bench_work nothing = bench_timer_nothing(&state->timer);
    if (session->options.once) {
        return true;
    }
    if (!bench_timer_warm(&state->timer, nothing, &state->turns) ||
        !bench_timer_runs(&state->timer, nothing, &state->turns, figure_runs, &empty_us)) {
        return false;
    }
    session->empty_us = empty_us.median;
    session->copy_rate = bench_gpu_copy_rate(&state->timer);
    return session->copy_rate > 0;
}

bool bench_gpu_open(bench_gpu_session *session, topk_context *context, const bench_gpu_options *options) {
    *session = (bench_gpu_session){.context = context, .options = *options};
    session->options.runs = options->runs < runs_most ? options->runs : runs_most;
    session->state = calloc(1, sizeof *session->state);
    if (session->state == NULL) {
        fprintf(stderr, "topk-bench: out of memory\n");
        return false;
    }
    if (!describe(session) || !bench_timer_make(&session->state->timer) || !measure(session)) {
        fprintf(stderr, "topk-bench: %s\n", bench_device_error());
        return false;
    }
    return true;
}

void bench_gpu_close(bench_gpu_session *session) {
    struct bench_gpu_state *state = session->state;
    if (state == NULL) {
        return;
    }
    bench_gpu_data_free(&state->data);
    bench_gpu_data_free(&state->mask);
    bench_buffer_free(&state->scratch);
    bench_gpu_outputs_free(&state->outputs);
    bench_buffer_free(&state->workspace);
    bench_buffer_free(&state->flush);
    bench_gpu_checker_free(&state->checker);
    bench_timer_free(&state->timer);
    free(state);
    session->state = NULL;
}
