/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/timer_cuda.h"

#include "gpu/device_cuda.h"
#include "gpu/launch_cuda.cuh"
#include "measure/statistics.h"

#include <algorithm>

namespace {

/* A call that enqueues so much that the queue runs full, or that waits for the device, would wait for
 * ever for the gate to open. */
constexpr unsigned long long patience_ns = 2000000000ULL;
constexpr int runs_max = 1024;

__global__ void wait_for_gate(volatile unsigned *gate, unsigned ticket, unsigned long long patience) {
    const unsigned long long begin = bench_nanoseconds();
    /* Tickets only grow; the difference stays small when they wrap. */
    while (static_cast<int>(gate[0] - ticket) < 0) {
        if (bench_nanoseconds() - begin > patience) {
            gate[1] = 1;
            return;
        }
    }
}

__global__ void do_nothing(int) {
}

bool enqueue_nothing(void *state, std::int64_t) {
    const bench_timer *timer = static_cast<const bench_timer *>(state);
    return bench_launch(do_nothing, 1, 32, timer->stream, 0);
}

bool close_gate(bench_timer *timer) {
    timer->gate[1] = 0;
    ++timer->ticket;
    return bench_launch(wait_for_gate, 1, 1, timer->stream, timer->gate_device, timer->ticket, patience_ns);
}

void open_gate(bench_timer *timer) {
    timer->gate[0] = timer->ticket;
}

/* Once the gate is closed it must be opened, whatever happens in between. */
bool time_one(bench_timer *timer, bench_work work, std::int64_t turn, double *microseconds) {
    if (!work.waits && !close_gate(timer)) {
        return false;
    }
    bool ok = bench_device_ok(cudaEventRecord(timer->begin, timer->stream), "timing") &&
              work.enqueue(work.state, turn) &&
              bench_device_ok(cudaEventRecord(timer->end, timer->stream), "timing");
    open_gate(timer);
    ok = bench_device_ok(cudaStreamSynchronize(timer->stream), "a timed run") && ok;
    if (ok && !work.waits && timer->gate[1] != 0) {
        return bench_device_ok(cudaErrorTimeout, "the call waits for the device");
    }
    float milliseconds = 0;
    ok = ok && bench_device_ok(cudaEventElapsedTime(&milliseconds, timer->begin, timer->end), "timing");
    *microseconds = 1e3 * static_cast<double>(milliseconds);
    return ok;
}

bool time_enqueueing(bench_timer *timer, bench_work work, std::int64_t turn, double *microseconds) {
    const double begin = bench_seconds();
    const bool ok = work.enqueue(work.state, turn);
    *microseconds = 1e6 * (bench_seconds() - begin);
    return bench_device_ok(cudaStreamSynchronize(timer->stream), "a run") && ok;
}

template <bool (*TimeOne)(bench_timer *, bench_work, std::int64_t, double *)>
bool sample(bench_timer *timer, bench_work work, int runs, bench_quartiles *microseconds) {
    double samples[runs_max];
    runs = std::clamp(runs, 1, runs_max);
    for (int i = 0; i < runs; ++i) {
        if (!TimeOne(timer, work, timer->turn++, &samples[i])) {
            return false;
        }
    }
    *microseconds = bench_quartiles_of(samples, runs);
    return true;
}

} // namespace

bool bench_timer_make(bench_timer *timer) {
    const bool ok =
        bench_device_ok(cudaStreamCreateWithFlags(&timer->stream, cudaStreamNonBlocking), "a stream") &&
        bench_device_ok(cudaEventCreate(&timer->begin), "an event") &&
        bench_device_ok(cudaEventCreate(&timer->end), "an event") &&
        bench_device_ok(cudaHostAlloc(&timer->gate, 2 * sizeof(unsigned), cudaHostAllocMapped), "the gate") &&
        bench_device_ok(cudaHostGetDevicePointer(&timer->gate_device, const_cast<unsigned *>(timer->gate), 0),
                        "the gate");
    if (!ok) {
        return false;
    }
    /* The first ticket finds the gate open, so that its kernel is loaded without anyone waiting. */
    timer->gate[0] = 1;
    return close_gate(timer) && bench_device_ok(cudaStreamSynchronize(timer->stream), "the gate");
}

void bench_timer_free(bench_timer *timer) {
    (void)cudaStreamDestroy(timer->stream); /* what was never made is an error that nobody sees */
    (void)cudaEventDestroy(timer->begin);
    (void)cudaEventDestroy(timer->end);
    (void)cudaFreeHost(const_cast<unsigned *>(timer->gate));
    *timer = {};
}

bool bench_timer_runs(bench_timer *timer, bench_work work, int runs, bench_quartiles *microseconds) {
    return sample<time_one>(timer, work, runs, microseconds);
}

bool bench_timer_host(bench_timer *timer, bench_work work, int runs, bench_quartiles *microseconds) {
    return sample<time_enqueueing>(timer, work, runs, microseconds);
}

bench_work bench_timer_nothing(bench_timer *timer) {
    return {enqueue_nothing, timer, false};
}
