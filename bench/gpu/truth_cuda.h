/* SPDX-License-Identifier: Apache-2.0
 *
 * The truth about a point whose input is on the device, and masks made of it. */
#ifndef BENCH_TRUTH_CUDA_H
#define BENCH_TRUTH_CUDA_H

#include "check/check.h"
#include "gpu/data_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A bound is found by bisection: the least element with no more than the share above it that is to be there;
 * without ties exactly so many are. Masks of where, count and mask are made of a bound, masks of select_where
 * by position. `scratch` is kept from one call to the next. False: a device error. */
bool bench_gpu_truth_find(bench_truth *truth, const bench_point *point, const void *input,
                          bench_buffer *scratch, cudaStream_t stream);

/* Makes a byte or a bit mask, as `kind` says, of the matches, with copies until they fill cold_bytes. False:
 * out of memory or a device error. */
bool bench_gpu_mask_make(bench_gpu_data *mask, const bench_point *point, bench_predicate kind,
                         const void *input, const bench_truth *truth, size_t cold_bytes, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_TRUTH_CUDA_H */
