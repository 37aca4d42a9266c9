/* SPDX-License-Identifier: Apache-2.0
 *
 * The device, its memory, and its errors. */
#ifndef BENCH_DEVICE_CUDA_H
#define BENCH_DEVICE_CUDA_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Device memory between two guards, whose bytes nobody may change. Begin with a zeroed struct. */
typedef struct bench_buffer {
    void *data; /* aligned to 256 bytes */
    size_t bytes;
    unsigned char *base; /* of the allocation, which may be larger than what is in use */
    size_t room;
} bench_buffer;

/* Makes room for so many bytes, kept from an earlier use if there is enough; the contents are garbage. False:
 * out of memory, and the buffer is empty. */
bool bench_buffer_make(bench_buffer *buffer, size_t bytes);
void bench_buffer_free(bench_buffer *buffer);

/* Overwrites the contents, so that no result of an earlier run can pass for one of the next. */
bool bench_buffer_poison(const bench_buffer *buffer, cudaStream_t stream);

/* Whether the guards are as they were. Waits for the stream. */
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
