/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/rivals_cuda.h"

#include "gpu/launch_cuda.cuh"

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

#include <cstring>

/* Runs with the scratch of the rival or, where it is null, says in *scratch_bytes how much is needed. */
struct bench_gpu_rival_kind {
    const char *name;
    bool (*can)(const bench_point *point);
    bool sorts; /* writes whole rows */
    cudaError_t (*run)(const bench_gpu_rival *rival, const float *input, void *scratch,
                       std::size_t *scratch_bytes);
};

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

float *keys_of(const bench_gpu_rival *rival) {
    return static_cast<float *>(rival->outputs.view.values);
}

std::int32_t *indices_of(const bench_gpu_rival *rival) {
    return static_cast<std::int32_t *>(rival->outputs.view.indices);
}

const std::int32_t *positions_of(const bench_gpu_rival *rival) {
    return static_cast<const std::int32_t *>(rival->positions.data);
}

const std::int64_t *offsets_of(const bench_gpu_rival *rival) {
    return static_cast<const std::int64_t *>(rival->offsets.data);
}

cudaError_t run_radix_sort(const bench_gpu_rival *rival, const float *input, void *scratch,
                           std::size_t *scratch_bytes) {
    return cub::DeviceRadixSort::SortPairsDescending(scratch, *scratch_bytes, input, keys_of(rival),
                                                     positions_of(rival), indices_of(rival),
                                                     static_cast<int>(rival->point->n), 0, 32, rival->stream);
}

cudaError_t run_segmented_radix_sort(const bench_gpu_rival *rival, const float *input, void *scratch,
                                     std::size_t *scratch_bytes) {
    const std::int64_t *offsets = offsets_of(rival);
    return cub::DeviceSegmentedRadixSort::SortPairsDescending(
        scratch, *scratch_bytes, input, keys_of(rival), positions_of(rival), indices_of(rival),
        static_cast<int>(rival->point->rows * rival->point->n), static_cast<int>(rival->point->rows), offsets,
        offsets + 1, 0, 32, rival->stream);
}

cudaError_t run_segmented_sort(const bench_gpu_rival *rival, const float *input, void *scratch,
                               std::size_t *scratch_bytes) {
    const std::int64_t *offsets = offsets_of(rival);
    return cub::DeviceSegmentedSort::StableSortPairsDescending(
        scratch, *scratch_bytes, input, keys_of(rival), positions_of(rival), indices_of(rival),
        rival->point->rows * rival->point->n, rival->point->rows, offsets, offsets + 1, rival->stream);
}

#ifdef BENCH_HAS_DEVICE_TOPK
bool can_topk(const bench_point *point) {
    return can_row(point) && point->order == TOPK_ORDER_ANY && point->ties == TOPK_TIES_ANY;
}

cudaError_t run_topk(const bench_gpu_rival *rival, const float *input, void *scratch,
                     std::size_t *scratch_bytes) {
    const auto promises = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                                   cuda::execution::output_ordering::unsorted);
    const cuda::stream_ref stream{rival->stream};
    const auto environment = cuda::std::execution::env{stream, promises};
    return cub::DeviceTopK::MaxPairs(scratch, *scratch_bytes, input, keys_of(rival), positions_of(rival),
                                     indices_of(rival), static_cast<int>(rival->point->n),
                                     static_cast<int>(rival->point->k), environment);
}
#endif

const bench_gpu_rival_kind kinds[] = {
    {"cub::DeviceRadixSort", can_row, true, run_radix_sort},
    {"cub::DeviceSegmentedSort", can_some_rows, true, run_segmented_sort},
    {"cub::DeviceSegmentedRadixSort", can_few_rows, true, run_segmented_radix_sort},
#ifdef BENCH_HAS_DEVICE_TOPK
    {"cub::DeviceTopK", can_topk, false, run_topk},
#endif
};
constexpr int kinds_count = sizeof kinds / sizeof *kinds;

struct number_positions {
    std::int32_t *positions;
    std::int64_t n;

    __device__ void operator()(std::int64_t i) const {
        positions[i] = static_cast<std::int32_t>(i % n);
    }
};

struct number_rows {
    std::int64_t *offsets;
    std::int64_t n;

    __device__ void operator()(std::int64_t r) const {
        offsets[r] = r * n;
    }
};

} // namespace

const char *bench_gpu_rival_name(int i) {
    return i < kinds_count ? kinds[i].name : nullptr;
}

bool bench_gpu_rival_can(int i, const bench_point *point) {
    return kinds[i].can(point);
}

bool bench_gpu_rival_make(bench_gpu_rival *rival, int i, const bench_point *point, const bench_gpu_data *data,
                          cudaStream_t stream) {
    std::memset(rival, 0, sizeof *rival);
    rival->kind = &kinds[i];
    rival->point = point;
    rival->data = data;
    rival->stream = stream;
    const std::int64_t elements = point->rows * point->n;
    std::size_t needed = 0;
    return bench_gpu_outputs_make(&rival->outputs, point, kinds[i].sorts ? point->n : point->k) &&
           bench_buffer_make(&rival->positions, static_cast<std::size_t>(elements) * sizeof(std::int32_t)) &&
           bench_buffer_make(&rival->offsets,
                             static_cast<std::size_t>(point->rows + 1) * sizeof(std::int64_t)) &&
           bench_for_each(elements,
                          number_positions{static_cast<std::int32_t *>(rival->positions.data), point->n},
                          stream) &&
           bench_for_each(point->rows + 1,
                          number_rows{static_cast<std::int64_t *>(rival->offsets.data), point->n}, stream) &&
           bench_device_ok(rival->kind->run(rival, nullptr, nullptr, &needed), "scratch of a rival") &&
           bench_buffer_make(&rival->scratch, needed) &&
           bench_device_ok(cudaStreamSynchronize(stream), "preparing a rival");
}

void bench_gpu_rival_free(bench_gpu_rival *rival) {
    bench_gpu_outputs_free(&rival->outputs);
    bench_buffer_free(&rival->positions);
    bench_buffer_free(&rival->offsets);
    bench_buffer_free(&rival->scratch);
}

bool bench_gpu_rival_enqueue(void *state, std::int64_t turn) {
    const bench_gpu_rival *rival = static_cast<const bench_gpu_rival *>(state);
    std::size_t bytes = rival->scratch.bytes;
    const float *input = static_cast<const float *>(bench_gpu_data_copy(rival->data, turn));
    return bench_device_ok(rival->kind->run(rival, input, rival->scratch.data, &bytes), rival->kind->name);
}
