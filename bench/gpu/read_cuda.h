/* SPDX-License-Identifier: Apache-2.0
 *
 * One read: the least time in which the device's memory hands over an input, summed up to one number.
 * It is the unit of the benchmark. */
#ifndef BENCH_READ_CUDA_H
#define BENCH_READ_CUDA_H

#include "gpu/device_cuda.h"
#include "gpu/timer_cuda.h"

BENCH_C_BEGIN

typedef struct bench_gpu_read {
    const char *name; /* of the fastest kernel */
    bench_quartiles us;
} bench_gpu_read;

/* Tries all kernels on the data and times the fastest in `runs` runs. False: a device error. */
bool bench_gpu_read_measure(bench_timer *timer, const bench_data *data, int runs, bench_gpu_read *read);

/* What one read of so many bytes should take at most on the GPU of that name, in microseconds; where it takes
 * longer, the machine is not what it is when its figures count. 0: nothing is known about this GPU. */
double bench_gpu_read_limit_us(const char *device, size_t bytes);

/* Bytes per second, read plus written, of a copy in device memory; 0: a device error. */
double bench_gpu_copy_rate(bench_timer *timer);

/* The name of a kernel that fails to look at some byte; NULL if there is none. */
const char *bench_gpu_read_self_test(bench_timer *timer);

BENCH_C_END

#endif /* BENCH_READ_CUDA_H */
