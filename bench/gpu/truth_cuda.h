/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of a point of where before it is run: the bound, and how many elements are above it. */
#ifndef BENCH_TRUTH_CUDA_H
#define BENCH_TRUTH_CUDA_H

#include "gpu/data_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_gpu_truth {
    topk_bound bound; /* of the type that suits the elements; -infinity where all are to be kept */
    int64_t matches;
} bench_gpu_truth;

/* Finds the least element above which lie no more than keep_percent of all, by bisection: without ties
 * exactly so many are. `scratch` is kept from one call to the next. False: a device error. */
bool bench_gpu_truth_find(bench_gpu_truth *truth, const bench_point *point, const void *input,
                          bench_buffer *scratch, cudaStream_t stream);

/* Makes a byte or a bit mask, as `kind` says, of the elements above the bound, with copies until they fill
 * cold_bytes. False: out of memory or a device error. */
bool bench_gpu_mask_make(bench_gpu_data *mask, const bench_point *point, bench_predicate kind,
                         const void *input, const bench_gpu_truth *truth, size_t cold_bytes,
                         cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_TRUTH_CUDA_H */
