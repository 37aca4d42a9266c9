/* SPDX-License-Identifier: Apache-2.0
 *
 * Device time of what a call enqueues. A kernel that spins until the host opens a gate goes first, so
 * that everything is in the queue before the first of it runs: the time the host takes to launch does
 * not count, but for a call that waits for the device, and that is found out. */
#ifndef BENCH_TIMER_CUDA_H
#define BENCH_TIMER_CUDA_H

#include "measure/device.h"

#include <cuda_runtime.h>

BENCH_C_BEGIN

typedef struct bench_timer {
    cudaStream_t stream;
    cudaEvent_t begin, end;
    volatile unsigned *gate; /* in host memory that the device sees: the last ticket that may pass, and
                                whether one lost its patience */
    volatile unsigned *gate_device;
    unsigned ticket;
    int64_t turn; /* of the runs so far: each takes the next */
} bench_timer;

bool bench_timer_make(bench_timer *timer);
void bench_timer_free(bench_timer *timer);

/* Device microseconds of `runs` runs, at most 1024; false if one failed. Work that waits for the device by
 * its nature goes without the gate, and what the host does between its steps counts. Other work must have run
 * before: what has not may have to be loaded, which can wait for the device, behind a gate for ever. */
bool bench_timer_runs(bench_timer *timer, bench_work work, int runs, bench_quartiles *microseconds);

/* Likewise host microseconds that enqueueing holds the thread when the device is idle. */
bool bench_timer_host(bench_timer *timer, bench_work work, int runs, bench_quartiles *microseconds);

/* Work that launches one kernel that does nothing; the state is the timer. */
bench_work bench_timer_nothing(bench_timer *timer);

BENCH_C_END

#endif /* BENCH_TIMER_CUDA_H */
