/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/rivals_cuda.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

/* Toolkits from 13.1 on have it. */
#if __has_include(<cub/device/device_topk.cuh>)
#include <cub/device/device_topk.cuh>
#include <cuda/__execution/determinism.h>
#include <cuda/__execution/output_ordering.h>
#include <cuda/__execution/require.h>
#include <cuda/stream_ref>
#define BENCH_HAS_DEVICE_TOPK 1
#endif

namespace {

bool can_any(const bench_point *point) {
    return point->operation == TOPK_OPERATION_SELECT && point->type == TOPK_F32 &&
           point->index_type == TOPK_INDEX_I32 && point->direction == TOPK_LARGEST && point->k >= 1 &&
           point->k <= point->n;
}

bool can_row(const bench_point *point) {
    return can_any(point) && point->rows == 1;
}

/* With more rows it sorts segments by their size first, and waits for the device to say how many there are.
 */
bool can_some_rows(const bench_point *point) {
    return can_any(point) && point->rows > 1 && point->rows < 500;
}

/* This one counts all elements in an int. */
bool can_few_rows(const bench_point *point) {
    return can_any(point) && point->rows > 1 && point->rows <= INT32_MAX / point->n;
}

cudaError_t run_radix_sort(const bench_rival_task *t) {
    return cub::DeviceRadixSort::SortPairsDescending(t->scratch, *t->scratch_bytes, t->input, t->values,
                                                     t->positions, t->indices, static_cast<int>(t->n), 0, 32,
                                                     t->stream);
}

cudaError_t run_segmented_radix_sort(const bench_rival_task *t) {
    return cub::DeviceSegmentedRadixSort::SortPairsDescending(
        t->scratch, *t->scratch_bytes, t->input, t->values, t->positions, t->indices,
        static_cast<int>(t->rows * t->n), static_cast<int>(t->rows), t->offsets, t->offsets + 1, 0, 32,
        t->stream);
}

cudaError_t run_segmented_sort(const bench_rival_task *t) {
    return cub::DeviceSegmentedSort::StableSortPairsDescending(
        t->scratch, *t->scratch_bytes, t->input, t->values, t->positions, t->indices, t->rows * t->n, t->rows,
        t->offsets, t->offsets + 1, t->stream);
}

#ifdef BENCH_HAS_DEVICE_TOPK
bool can_topk(const bench_point *point) {
    return can_row(point) && point->order == TOPK_ORDER_ANY && point->ties == TOPK_TIES_ANY;
}

cudaError_t run_topk(const bench_rival_task *t) {
    const auto promises = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                                   cuda::execution::output_ordering::unsorted);
    const cuda::stream_ref stream{t->stream};
    const auto environment = cuda::std::execution::env{stream, promises};
    return cub::DeviceTopK::MaxPairs(t->scratch, *t->scratch_bytes, t->input, t->values, t->positions,
                                     t->indices, static_cast<int>(t->n), static_cast<int>(t->k), environment);
}
#endif

const bench_rival_kind kinds[] = {
    {"cub::DeviceRadixSort", can_row, run_radix_sort, BENCH_RIVAL_SORTS},
    {"cub::DeviceSegmentedSort", can_some_rows, run_segmented_sort, BENCH_RIVAL_SORTS},
    {"cub::DeviceSegmentedRadixSort", can_few_rows, run_segmented_radix_sort, BENCH_RIVAL_SORTS},
#ifdef BENCH_HAS_DEVICE_TOPK
    {"cub::DeviceTopK", can_topk, run_topk, 0},
#endif
};

} // namespace

const bench_rival_kinds bench_select_rivals = {kinds, static_cast<int>(sizeof kinds / sizeof *kinds)};
