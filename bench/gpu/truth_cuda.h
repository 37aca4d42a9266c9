/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of a point with a predicate before it is run: which elements match, and how many they are. */
#ifndef BENCH_TRUTH_CUDA_H
#define BENCH_TRUTH_CUDA_H

#include "gpu/data_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an element is to be in order to match. By its place: the values then say nothing about it, and the
 * best of all elements are not the best of the matches. */
typedef enum bench_gpu_rule { BENCH_ABOVE_BOUND, BENCH_UP_TO_BOUND, BENCH_BY_PLACE } bench_gpu_rule;

typedef struct bench_gpu_truth {
    bench_gpu_rule rule;
    topk_bound bound; /* of the type that suits the elements; -infinity where all are above it */
    int keep_percent; /* by place: of all places, picked at random */
    int64_t matches;
} bench_gpu_truth;

/* Chooses the rule. A bound is found by bisection: the least element with no more than the share above it
 * that is to be there; without ties exactly so many are. Masks of where, count and mask are made of a bound,
 * those of select_where by place. `scratch` is kept from one call to the next. False: a device error. */
bool bench_gpu_truth_find(bench_gpu_truth *truth, const bench_point *point, const void *input,
                          bench_buffer *scratch, cudaStream_t stream);

/* Makes a byte or a bit mask, as `kind` says, of the matches, with copies until they fill cold_bytes. False:
 * out of memory or a device error. */
bool bench_gpu_mask_make(bench_gpu_data *mask, const bench_point *point, bench_predicate kind,
                         const void *input, const bench_gpu_truth *truth, size_t cold_bytes,
                         cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_TRUTH_CUDA_H */
