/* SPDX-License-Identifier: Apache-2.0
 *
 * A dependent launch that does not wait for the launch before it. */
#ifndef TESTS_FOLLOW_CUDA_H
#define TESTS_FOLLOW_CUDA_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FOLLOW_BUFFERS = 3 };

typedef struct follow_buffers {
    unsigned char *data[FOLLOW_BUFFERS];
    size_t bytes[FOLLOW_BUFFERS];
} follow_buffers;

/* Enqueues a kernel that sets every byte, as early as the launch before it lets it. */
cudaError_t follow_with_fill(cudaStream_t stream, const follow_buffers *buffers, unsigned char value);

#ifdef __cplusplus
}
#endif
#endif
