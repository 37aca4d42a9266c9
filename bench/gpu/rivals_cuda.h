/* SPDX-License-Identifier: Apache-2.0
 *
 * What CUB of the CUDA toolkit does for the same points: sorts of all pairs, and its top-k where the
 * toolkit has it (float32 and int32 indices; the k largest). */
#ifndef BENCH_RIVALS_CUDA_H
#define BENCH_RIVALS_CUDA_H

#include "gpu/data_cuda.h"
#include "gpu/outputs_cuda.h"
#include "gpu/timer_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_gpu_rival {
    const struct bench_gpu_rival_kind *kind;
    const bench_point *point;
    const bench_gpu_data *data;
    bench_gpu_outputs outputs;
    bench_buffer positions; /* of the elements in their rows: what is sorted along */
    bench_buffer offsets;   /* where rows begin */
    bench_buffer scratch;
    cudaStream_t stream;
} bench_gpu_rival;

/* The name of the i-th rival, NULL past the last. */
const char *bench_gpu_rival_name(int i);

/* Whether it does this point. A sort always gives the best first, ties by lowest index; a top-k gives
 * any order and any ties, and is run where no more is asked for. */
bool bench_gpu_rival_can(int i, const bench_point *point);

/* All that is not timed: memory, positions. False: out of memory or a device error. Free it in any case. */
bool bench_gpu_rival_make(bench_gpu_rival *rival, int i, const bench_point *point, const bench_gpu_data *data,
                          cudaStream_t stream);
void bench_gpu_rival_free(bench_gpu_rival *rival);

/* For a bench_work; the state is a bench_gpu_rival. */
bool bench_gpu_rival_enqueue(void *state, int64_t turn);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_RIVALS_CUDA_H */
