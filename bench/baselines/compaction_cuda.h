/* SPDX-License-Identifier: Apache-2.0
 *
 * Selections of the elements above a bound as Bakunas-Milanowski, Rego, Sang and Yu compare theirs with, in A
 * Fast Parallel Selection Algorithm on GPUs: float32, int32 indices. */
#ifndef BENCH_COMPACTION_CUDA_H
#define BENCH_COMPACTION_CUDA_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bench_compaction {
    const float *input;
    int64_t n; /* 1 to 2^31 - 1 */
    float bound;
    int32_t *indices;
    int64_t *count; /* of the matches, on the device */
    void *scratch;  /* aligned to 256 bytes; may hold garbage */
    int threads;    /* of a block; a multiple of 32, at most 1024 */
    cudaStream_t stream;
} bench_compaction;

/* One counter in global memory: each match takes the next place. Any order. */
cudaError_t bench_compact_by_counter(const bench_compaction *task);

/* A counter in the shared memory of each block, and one addition to the global one for each block. Any order.
 */
cudaError_t bench_compact_by_blocks(const bench_compaction *task);

/* One addition to the global counter for each warp that has matches, after A. V. Adinetz. Any order. */
cudaError_t bench_compact_by_warps(const bench_compaction *task);

/* The authors' version before the one of that paper: a counter for each 32 elements, told by a ballot; a scan
 * of all counters; then each match counts those before it in its ballot. No shuffles; in input order. */
cudaError_t bench_compact_by_ranks(const bench_compaction *task);

/* The one of that paper, in its three phases: the bits and the number of matches of each 1024 elements, by
 * ballots of one warp; a scan of these numbers; then each match finds its place by popc and shuffles. In
 * input order. */
cudaError_t bench_compact_by_phases(const bench_compaction *task);

/* Bytes of scratch of the last two; the others need none. */
cudaError_t bench_compact_by_ranks_scratch(int64_t n, size_t *bytes);
cudaError_t bench_compact_by_phases_scratch(int64_t n, size_t *bytes);

#endif /* BENCH_COMPACTION_CUDA_H */
