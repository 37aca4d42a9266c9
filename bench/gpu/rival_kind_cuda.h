/* SPDX-License-Identifier: Apache-2.0
 *
 * What rivals_cuda.h chooses from: one table each for what CUB and Thrust do, and for the baselines. */
#ifndef BENCH_RIVAL_KIND_CUDA_H
#define BENCH_RIVAL_KIND_CUDA_H

#include "gpu/rivals_cuda.h"

/* Runs with the scratch of the rival or, where it is null, says in *scratch_bytes how much is needed. */
struct bench_gpu_rival_kind {
    const char *name;
    bool (*can)(const bench_point *point);
    cudaError_t (*run)(bench_gpu_rival *rival, const void *input, void *scratch, size_t *scratch_bytes);
    bool sorts;     /* select: writes whole rows */
    bool flags;     /* where: the input is a byte for each element, 1 where it matches */
    bool any_order; /* where: results lie in any order */
    bool waits;     /* for the device, and knows then how many matches there are; in rival->count */
};

typedef struct bench_gpu_rival_kinds {
    const bench_gpu_rival_kind *each;
    int count;
} bench_gpu_rival_kinds;

bench_gpu_rival_kinds bench_select_rivals(void);
bench_gpu_rival_kinds bench_where_rivals(void);
bench_gpu_rival_kinds bench_where_baselines(void);

/* where: float32 of one row, int32 indices of the elements above a bound. */
bool bench_where_rival_can(const bench_point *point);

#endif /* BENCH_RIVAL_KIND_CUDA_H */
