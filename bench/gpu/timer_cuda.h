/* SPDX-License-Identifier: Apache-2.0
 *
 * Device time of what a call enqueues. A kernel that spins until the host opens a gate goes first, so
 * that everything is in the queue before the first of it runs: the time the host takes to launch does
 * not count, but for a call that waits for the device, and that is found out. */
#ifndef BENCH_TIMER_CUDA_H
#define BENCH_TIMER_CUDA_H

#include "measure/statistics.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_timer {
    cudaStream_t stream;
    cudaEvent_t begin, end;
    volatile unsigned *gate; /* in host memory that the device sees: the last ticket that may pass, and
                                whether one lost its patience */
    unsigned *gate_device;
    unsigned ticket;
    bool ungated; /* runs begin at once: for calls that wait for the device by their nature. What the host
                     does between their steps then counts */
} bench_timer;

bool bench_timer_make(bench_timer *timer);
void bench_timer_free(bench_timer *timer);

/* Something that enqueues work; `turn` says which copy of the input it is to read. */
typedef struct bench_work {
    bool (*enqueue)(void *state, int64_t turn);
    void *state;
} bench_work;

/* How the turns go on: each run takes the next. */
typedef struct bench_turns {
    int64_t next;
} bench_turns;

/* One run that is not timed, to its end. What has never run before may have to be loaded, which can wait for
 * the device; behind a closed gate it would wait for ever. */
bool bench_timer_warm(bench_timer *timer, bench_work work, bench_turns *turns);

/* Device microseconds of `runs` runs; false if one failed. At most 1024. */
bool bench_timer_runs(bench_timer *timer, bench_work work, bench_turns *turns, int runs,
                      bench_quartiles *microseconds);

/* Median host microseconds that enqueueing holds the thread when the device is idle. */
bool bench_timer_host(bench_timer *timer, bench_work work, bench_turns *turns, int runs,
                      double *microseconds);

/* Work that launches one kernel that does nothing; the state is the timer. */
bench_work bench_timer_nothing(bench_timer *timer);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_TIMER_CUDA_H */
