/* SPDX-License-Identifier: Apache-2.0
 *
 * Rivals on a GPU: sorts of all pairs and the top-k of CUB (float32 and int32 indices; the k largest);
 * selections of CUB and Thrust by flags and by a predicate; and the baselines (baselines/). */
#ifndef BENCH_RIVALS_CUDA_H
#define BENCH_RIVALS_CUDA_H

#include "gpu/session_cuda.h"
#include "measure/rivals.h"

#include <cstdint>

/* One run of a rival, in its own types. */
struct bench_task {
    bench_rival *rival;
    const float *input;
    const unsigned char *flags; /* in place of the input */
    std::int64_t rows, n, k;
    float bound; /* where: an element, or infinite, so that it is exact */
    int block;   /* threads of a block of the baselines */
    float *values;
    std::int32_t *indices;
    std::int64_t *count; /* where: of the matches */
    const std::int32_t *positions;
    const std::int64_t *offsets;
    void *scratch; /* aligned to 256 bytes; null: it only says in scratch_bytes how much it needs */
    std::size_t &scratch_bytes;
    cudaStream_t stream;

    explicit bench_task(bench_rival *r)
        : rival(r), input(static_cast<const float *>(r->input)),
          flags(static_cast<const unsigned char *>(r->input)), rows(r->point->rows), n(r->point->n),
          k(r->point->k), bound(static_cast<float>(r->bound)), block(r->point->block),
          values(static_cast<float *>(r->outputs.values)),
          indices(static_cast<std::int32_t *>(r->outputs.indices)),
          count(r->outputs.offsets != nullptr ? r->outputs.offsets + rows : nullptr),
          positions(static_cast<const std::int32_t *>(r->positions.data)),
          offsets(static_cast<const std::int64_t *>(r->offsets.data)), scratch(r->scratch.data),
          scratch_bytes(r->scratch_bytes), stream(static_cast<cudaStream_t>(r->stream)) {
    }
};

/* For a table. */
template <cudaError_t (*Run)(const bench_task &task)> bool bench_run_rival(bench_rival *rival) {
    return bench_device_ok(Run(bench_task(rival)), rival->kind->name);
}

/* select: the k largest float32 elements of each row, with int32 indices. */
inline bool bench_can_select(const bench_point *point) {
    return point->operation == TOPK_OPERATION_SELECT && point->type == TOPK_F32 &&
           point->index_type == TOPK_INDEX_I32 && point->direction == TOPK_LARGEST && point->k >= 1 &&
           point->k <= point->n && point->order != TOPK_ORDER_BY_POSITION;
}

/* where: float32 of one row, int32 indices of the elements above a bound. */
template <bench_wanted Wanted> bool bench_can_where(const bench_point *point) {
    return point->operation == TOPK_OPERATION_WHERE && point->type == TOPK_F32 && point->rows == 1 &&
           point->n >= 1 && point->n <= INT32_MAX && point->index_type == TOPK_INDEX_I32 &&
           point->predicate == BENCH_GREATER && point->wanted == Wanted;
}

#endif /* BENCH_RIVALS_CUDA_H */
