/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs made on the device, from the same recipes as on the host, equal to these but for the last bits of a
 * logarithm; the truth about them; and masks made of it. */
#ifndef BENCH_INPUT_CUDA_H
#define BENCH_INPUT_CUDA_H

#include "check/check.h"
#include "data/data.h"
#include "gpu/device_cuda.h"

BENCH_C_BEGIN

/* Makes the input of a point, with copies until they fill cold_bytes. False: out of memory or a device error,
 * and *data is empty. */
bool bench_gpu_data_make(bench_data *data, const bench_point *point, uint64_t seed, size_t cold_bytes,
                         cudaStream_t stream);

/* A bound is found by bisection: the least element with no more than the share above it that is to be there;
 * without ties exactly so many are. Masks of where, count and mask are made of a bound, masks of select_where
 * by position. `scratch` is kept from one call to the next. False: a device error. */
bool bench_gpu_truth_find(bench_truth *truth, const bench_point *point, const void *input,
                          bench_buffer *scratch, cudaStream_t stream);

/* Makes a byte or a bit mask, as `kind` says, of the matches, with copies until they fill cold_bytes. False:
 * out of memory or a device error. */
bool bench_gpu_mask_make(bench_data *mask, const bench_point *point, bench_predicate kind, const void *input,
                         const bench_truth *truth, size_t cold_bytes, cudaStream_t stream);

BENCH_C_END

#endif /* BENCH_INPUT_CUDA_H */
