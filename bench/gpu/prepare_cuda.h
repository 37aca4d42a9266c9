/* SPDX-License-Identifier: Apache-2.0
 *
 * What comes before a point is run: its data, what is to be known of it, and room for the results; and how a
 * failure becomes a result. */
#ifndef BENCH_PREPARE_CUDA_H
#define BENCH_PREPARE_CUDA_H

#include "gpu/session_cuda.h"

/* Bytes that cold runs go round: 256 MiB; 0 if they are to be warm. */
size_t bench_gpu_cold_bytes(const bench_gpu_session *session);

/* False: the result says why not. result->k gets the number of matches, unless the point has a k. */
bool bench_gpu_prepare(bench_gpu_session *session, const bench_point *point, bench_gpu_result *result);

/* All return false. */
bool bench_gpu_fail(bench_gpu_result *result, bench_gpu_outcome outcome, const char *why);
/* For a failure that either the device or the library can explain. */
bool bench_gpu_fail_somewhere(bench_gpu_result *result);
/* For what could not be made: a device error, or else too little memory. */
bool bench_gpu_fail_to_make(bench_gpu_result *result, const char *what);

#endif /* BENCH_PREPARE_CUDA_H */
