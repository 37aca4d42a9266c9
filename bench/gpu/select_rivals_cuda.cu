/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/rival_kind_cuda.h"

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

bool can_rows(const bench_point *point) {
    return can_any(point) && point->rows > 1;
}

/* Beyond these it sorts segments by their size first, and waits for the device to say how many there are. */
bool can_some_rows(const bench_point *point) {
    return can_rows(point) && point->rows < 500;
}

/* This one counts all elements in an int. */
bool can_few_rows(const bench_point *point) {
    return can_rows(point) && point->rows <= INT32_MAX / point->n;
}

const float *floats(const void *input) {
    return static_cast<const float *>(input);
}

float *keys_of(const bench_gpu_rival *rival) {
    return static_cast<float *>(rival->outputs.values);
}

std::int32_t *indices_of(const bench_gpu_rival *rival) {
    return static_cast<std::int32_t *>(rival->outputs.indices);
}

const std::int32_t *positions_of(const bench_gpu_rival *rival) {
    return static_cast<const std::int32_t *>(rival->positions.data);
}

const std::int64_t *offsets_of(const bench_gpu_rival *rival) {
    return static_cast<const std::int64_t *>(rival->offsets.data);
}

cudaError_t run_radix_sort(bench_gpu_rival *rival, const void *input, void *scratch,
                           std::size_t *scratch_bytes) {
    return cub::DeviceRadixSort::SortPairsDescending(scratch, *scratch_bytes, floats(input), keys_of(rival),
                                                     positions_of(rival), indices_of(rival),
                                                     static_cast<int>(rival->point->n), 0, 32, rival->stream);
}

cudaError_t run_segmented_radix_sort(bench_gpu_rival *rival, const void *input, void *scratch,
                                     std::size_t *scratch_bytes) {
    const std::int64_t *offsets = offsets_of(rival);
    return cub::DeviceSegmentedRadixSort::SortPairsDescending(
        scratch, *scratch_bytes, floats(input), keys_of(rival), positions_of(rival), indices_of(rival),
        static_cast<int>(rival->point->rows * rival->point->n), static_cast<int>(rival->point->rows), offsets,
        offsets + 1, 0, 32, rival->stream);
}

cudaError_t run_segmented_sort(bench_gpu_rival *rival, const void *input, void *scratch,
                               std::size_t *scratch_bytes) {
    const std::int64_t *offsets = offsets_of(rival);
    return cub::DeviceSegmentedSort::StableSortPairsDescending(
        scratch, *scratch_bytes, floats(input), keys_of(rival), positions_of(rival), indices_of(rival),
        rival->point->rows * rival->point->n, rival->point->rows, offsets, offsets + 1, rival->stream);
}

#ifdef BENCH_HAS_DEVICE_TOPK
bool can_topk(const bench_point *point) {
    return can_row(point) && point->order == TOPK_ORDER_ANY && point->ties == TOPK_TIES_ANY;
}

cudaError_t run_topk(bench_gpu_rival *rival, const void *input, void *scratch, std::size_t *scratch_bytes) {
    const auto promises = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                                   cuda::execution::output_ordering::unsorted);
    const cuda::stream_ref stream{rival->stream};
    const auto environment = cuda::std::execution::env{stream, promises};
    return cub::DeviceTopK::MaxPairs(
        scratch, *scratch_bytes, floats(input), keys_of(rival), positions_of(rival), indices_of(rival),
        static_cast<int>(rival->point->n), static_cast<int>(rival->point->k), environment);
}
#endif

const bench_gpu_rival_kind kinds[] = {
    {"cub::DeviceRadixSort", can_row, run_radix_sort, true, false, false, false},
    {"cub::DeviceSegmentedSort", can_some_rows, run_segmented_sort, true, false, false, false},
    {"cub::DeviceSegmentedRadixSort", can_few_rows, run_segmented_radix_sort, true, false, false, false},
#ifdef BENCH_HAS_DEVICE_TOPK
    {"cub::DeviceTopK", can_topk, run_topk, false, false, false, false},
#endif
};

} // namespace

bench_gpu_rival_kinds bench_select_rivals(void) {
    return {kinds, static_cast<int>(sizeof kinds / sizeof *kinds)};
}
