/* SPDX-License-Identifier: Apache-2.0
 *
 * What is run beside the library on a GPU: sorts of all pairs and the top-k of CUB, where the toolkit has it
 * (float32 and int32 indices; the k largest); selections of CUB and Thrust by flags and by a predicate; and
 * the baselines of the benchmark (baselines/). */
#ifndef BENCH_RIVALS_CUDA_H
#define BENCH_RIVALS_CUDA_H

#include "gpu/session_cuda.h"

BENCH_C_BEGIN

/* One run of a rival. Without scratch it says in *scratch_bytes how much it needs. */
typedef struct bench_rival_task {
    const float *input;
    const unsigned char *flags; /* in place of the input: a byte for each element, 1 where it matches */
    int64_t rows, n, k;
    float bound; /* where: the elements above it match */
    int block;   /* threads of a block of the baselines */
    float *values;
    int32_t *indices;
    int64_t *count;           /* where: of the matches, on the device */
    int64_t *host_count;      /* where, for some: on the host */
    const int32_t *positions; /* select: of the elements in their rows: what is sorted along */
    const int64_t *offsets;   /* select: where rows begin */
    void *scratch;            /* aligned to 256 bytes; may hold garbage */
    size_t *scratch_bytes;
    cudaStream_t stream;
} bench_rival_task;

enum {
    BENCH_RIVAL_SORTS = 1,     /* select: writes whole rows */
    BENCH_RIVAL_FLAGS = 2,     /* where: reads flags */
    BENCH_RIVAL_ANY_ORDER = 4, /* where: results lie in any order */
    BENCH_RIVAL_WAITS = 8,     /* for the device, and tells the host how many matches there are */
    BENCH_RIVAL_BLOCKS = 16    /* has blocks of the size that the point says */
};

/* A sort always gives the best first, ties by lowest index; a top-k gives any order and any ties, and can do
 * a point that asks for no more. */
typedef struct bench_rival_kind {
    const char *name; /* NULL: past the last of a table */
    bool (*can)(const bench_point *point);
    cudaError_t (*run)(const bench_rival_task *task);
    int traits;
} bench_rival_kind;

extern const bench_rival_kind bench_toolkit_rivals[], bench_device_baselines[];

/* where: float32 of one row, int32 indices of the elements above a bound. */
bool bench_where_rival_can(const bench_point *point);

typedef struct bench_gpu_rival {
    const bench_rival_kind *kind;
    bench_rival_task task;
    const bench_data *data; /* what it reads */
    bench_outputs outputs;
    bench_buffer positions, offsets, scratch;
    bench_data flags;
    int64_t host_count;
} bench_gpu_rival;

/* The name of the i-th rival, NULL past the last; and whether it does this point. */
const char *bench_gpu_rival_name(int i);
bool bench_gpu_rival_can(int i, const bench_point *point);

/* All that is not timed: memory, positions, flags; these with copies until they fill cold_bytes. False: out
 * of memory or a device error. Begin with a zeroed struct. Free it in any case. */
bool bench_gpu_rival_make(bench_gpu_rival *rival, int i, const bench_point *point, const bench_data *data,
                          const bench_truth *truth, size_t cold_bytes, cudaStream_t stream);
void bench_gpu_rival_free(bench_gpu_rival *rival);

/* For a bench_work; the state is a bench_gpu_rival. */
bool bench_gpu_rival_enqueue(void *state, int64_t turn);

BENCH_C_END

#endif /* BENCH_RIVALS_CUDA_H */
