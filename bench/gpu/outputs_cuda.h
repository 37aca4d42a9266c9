/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a call and its rivals write their results on the device. */
#ifndef BENCH_OUTPUTS_CUDA_H
#define BENCH_OUTPUTS_CUDA_H

#include "gpu/device_cuda.h"
#include "points/outputs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Begin with a zeroed struct. */
typedef struct bench_gpu_outputs {
    bench_outputs view; /* as bench_outputs_make() makes it, but all of it on the device */
    bench_buffer values, indices, better, equal, offsets; /* kth and mask lie in values, counts in offsets */
} bench_gpu_outputs;

/* Makes room for the results; of where there are `pitch` matches. False: out of memory or a device error. */
bool bench_gpu_outputs_make(bench_gpu_outputs *outputs, const bench_point *point, int64_t pitch);
void bench_gpu_outputs_free(bench_gpu_outputs *outputs);

bool bench_gpu_outputs_poison(const bench_gpu_outputs *outputs, cudaStream_t stream);

/* Whether nothing was written in front of or behind them. */
bool bench_gpu_outputs_intact(const bench_gpu_outputs *outputs, cudaStream_t stream);

/* Lets a function for outputs on the host change them: a test of the checks. The pitch must be k. */
bool bench_gpu_outputs_tamper(bench_gpu_outputs *outputs, const bench_point *point,
                              void (*tamper)(const bench_point *point, bench_outputs *outputs),
                              cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_OUTPUTS_CUDA_H */
