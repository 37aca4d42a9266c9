/* SPDX-License-Identifier: Apache-2.0
 *
 * What CUB and Thrust of the CUDA toolkit do for the same points: sorts of all pairs, the top-k where the
 * toolkit has it (float32 and int32 indices; the k largest), and selections by flags and by a predicate;
 * beside these, the baselines of the benchmark (baselines/). */
#ifndef BENCH_RIVALS_CUDA_H
#define BENCH_RIVALS_CUDA_H

#include "gpu/data_cuda.h"
#include "gpu/timer_cuda.h"
#include "gpu/truth_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_gpu_rival_kind bench_gpu_rival_kind; /* rival_kind_cuda.h */

typedef struct bench_gpu_rival {
    const bench_gpu_rival_kind *kind;
    const bench_point *point;
    const bench_gpu_data *data;
    bench_outputs outputs;
    bench_buffer positions; /* select: of the elements in their rows: what is sorted along */
    bench_buffer offsets;   /* select: where rows begin */
    bench_gpu_data flags;   /* where, for some: which elements match */
    float bound;            /* where: the elements above it match */
    int64_t count;          /* where, for some: how many matched in the last run */
    bench_buffer scratch;
    cudaStream_t stream;
} bench_gpu_rival;

/* The name of the i-th rival, NULL past the last. */
const char *bench_gpu_rival_name(int i);

/* Whether it does this point. A sort always gives the best first, ties by lowest index; a top-k gives
 * any order and any ties, and is run where no more is asked for. */
bool bench_gpu_rival_can(int i, const bench_point *point);

/* All that is not timed: memory, positions, flags; these with copies until they fill cold_bytes. False: out
 * of memory or a device error. Begin with a zeroed struct. Free
 * it in any case. */
bool bench_gpu_rival_make(bench_gpu_rival *rival, int i, const bench_point *point, const bench_gpu_data *data,
                          const bench_truth *truth, size_t cold_bytes, cudaStream_t stream);
void bench_gpu_rival_free(bench_gpu_rival *rival);

/* Whether each of its runs waits for the device. */
bool bench_gpu_rival_waits(const bench_gpu_rival *rival);

/* For a bench_work; the state is a bench_gpu_rival. */
bool bench_gpu_rival_enqueue(void *state, int64_t turn);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_RIVALS_CUDA_H */
