/* SPDX-License-Identifier: Apache-2.0
 *
 * A GPU that is kept busy until the host lets it go: what is enqueued meanwhile must not wait for it. */
#ifndef TESTS_SPIN_CUDA_H
#define TESTS_SPIN_CUDA_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueues a kernel that runs until *flag, which is mapped host memory, is not 0. */
int spin_enqueue(cudaStream_t stream, const volatile int *flag);

#ifdef __cplusplus
}
#endif

/* Blocks the stream. A watchdog lets it go after some seconds, so that a call that waits for it fails its
 * test instead of hanging. One at a time. */
void spin_begin(cudaStream_t stream);

/* Lets the GPU go. False if the watchdog had to. */
bool spin_end(void);

#endif
