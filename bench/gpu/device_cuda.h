/* SPDX-License-Identifier: Apache-2.0
 *
 * The device, its memory, and its errors. */
#ifndef BENCH_DEVICE_CUDA_H
#define BENCH_DEVICE_CUDA_H

#include "points/outputs.h"

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* bench_device_memory: buffers between two guards, whose bytes nobody may change; data are aligned to 256
 * bytes. */
bool bench_buffer_make(bench_buffer *buffer, size_t bytes);
void bench_buffer_free(bench_buffer *buffer);
bool bench_buffer_poison(const bench_buffer *buffer, cudaStream_t stream);
bool bench_buffer_intact(const bench_buffer *buffer, cudaStream_t stream);

/* Bytes that can be allocated. */
size_t bench_device_free_bytes(void);

/* True if `status` is success; else false, and bench_device_error() gives the first error that was
 * noticed since it was last asked for. */
bool bench_device_ok(cudaError_t status, const char *what);

/* The sentence about that error, "" if there was none; forgets it. Valid until the next error. */
const char *bench_device_error(void);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_DEVICE_CUDA_H */
