/* SPDX-License-Identifier: Apache-2.0
 *
 * The device, its memory, and its errors. */
#ifndef BENCH_DEVICE_CUDA_H
#define BENCH_DEVICE_CUDA_H

#include "points/outputs.h"

#include <cuda_runtime.h>

BENCH_C_BEGIN

/* Bytes that can be allocated. */
size_t bench_device_free_bytes(void);

/* True if `status` is success; else false, and bench_device_error() gives the first error that was
 * noticed since it was last asked for. */
bool bench_device_ok(cudaError_t status, const char *what);

/* The sentence about that error, "" if there was none; forgets it. Valid until the next error. */
const char *bench_device_error(void);

BENCH_C_END

#endif /* BENCH_DEVICE_CUDA_H */
