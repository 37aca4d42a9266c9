/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a result on the device is right, found out on the device by the passes of check/. */
#ifndef BENCH_CHECK_CUDA_H
#define BENCH_CHECK_CUDA_H

#include "gpu/input_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is kept from one check to the next. Begin with a zeroed struct. */
typedef struct bench_gpu_checker {
    bench_buffer memory;
    bench_truth truth; /* of a point with a predicate; to be set before a check */
    const void *mask;  /* NULL, or the mask that the call read; likewise */
} bench_gpu_checker;

/* True if the outputs are right; else `reason` gets a sentence. *checksum gets one of the input's elements
 * and their positions. Waits for the stream. */
bool bench_gpu_check(bench_gpu_checker *checker, const bench_point *point, const void *input,
                     const bench_outputs *outputs, cudaStream_t stream, uint64_t *checksum, char *reason,
                     size_t reason_bytes);

void bench_gpu_checker_free(bench_gpu_checker *checker);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_CHECK_CUDA_H */
