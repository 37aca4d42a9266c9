/* SPDX-License-Identifier: Apache-2.0
 *
 * Times by events between the calls. */
#include "gpu/launch_cuda.cuh"
#include "gpu/session_cuda.h"
#include "sharded/sharded.h"

#include <cstdio>

namespace {

constexpr int read_runs = 21;

bench_gpu_state state;
bench_data subject;
cudaEvent_t marks[SHARDED_STEPS];
int marks_set;

bool open_gpu(const topk_context *context) {
    topk_context_properties properties = TOPK_CONTEXT_PROPERTIES_INIT;
    cudaDeviceProp device;
    bool ok =
        topk_context_query(context, &properties) == TOPK_OK &&
        bench_device_ok(cudaSetDevice(properties.device), "choosing the device") &&
        bench_device_ok(cudaGetDeviceProperties(&device, properties.device), "the device's properties") &&
        bench_timer_make(&state.timer);
    for (cudaEvent_t &each : marks) {
        ok = ok && bench_device_ok(cudaEventCreate(&each), "an event");
    }
    if (ok) {
        std::snprintf(state.name, sizeof state.name, "%s", device.name);
        state.sms = device.multiProcessorCount;
    }
    return ok;
}

void close_gpu() {
    for (cudaEvent_t each : marks) {
        (void)cudaEventDestroy(each);
    }
    bench_buffer_free(&state.scratch);
    bench_timer_free(&state.timer);
}

topk_stream stream_of_gpu() {
    return state.timer.stream;
}

struct fill_element {
    bench_filling filling;
    void *elements;

    __device__ void operator()(std::int64_t i) const {
        element_put_bits(filling.how.type, elements, i, bench_element(&filling, i));
    }
};

bool fill(const bench_filling *filling, void *elements, std::int64_t count) {
    return bench_for_each(count, fill_element{*filling, elements}, state.timer.stream) &&
           bench_device_ok(cudaStreamSynchronize(state.timer.stream), "the input");
}

bool find_reader(const void *elements, std::size_t bytes) {
    subject = {};
    subject.buffer.data = const_cast<void *>(elements);
    subject.bytes = bytes;
    subject.copies = 1;
    state.subject = &subject;
    return bench_gpu_read_measure(&state, read_runs);
}

bool read_us(double *us) {
    *us = state.read_us.median;
    return true;
}

bool mark() {
    return bench_device_ok(cudaEventRecord(marks[marks_set++], state.timer.stream), "a mark");
}

bool time_work(bench_work work, double us[SHARDED_STEPS]) {
    bench_quartiles all = {0, 0, 0};
    marks_set = 0;
    bool ok = bench_timer_runs(&state.timer, work, 1, &all);
    for (int i = 0; ok && i + 1 < marks_set; ++i) {
        float milliseconds = 0;
        ok = bench_device_ok(cudaEventElapsedTime(&milliseconds, marks[i], marks[i + 1]), "timing");
        us[i] = 1e3 * static_cast<double>(milliseconds);
    }
    return ok;
}

} // namespace

const sharded_device sharded_cuda = {TOPK_BACKEND_CUDA,
                                     &bench_device_memory,
                                     open_gpu,
                                     close_gpu,
                                     stream_of_gpu,
                                     bench_device_error,
                                     fill,
                                     find_reader,
                                     read_us,
                                     time_work,
                                     mark};
