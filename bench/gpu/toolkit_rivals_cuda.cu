/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/rivals_cuda.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/system/cuda/execution_policy.h>

#include <exception>
#include <new>

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

bool can_row(const bench_point *point) {
    return bench_can_select(point) && point->rows == 1;
}

/* With more rows it sorts segments by size first, and waits for the device to say how many there are. */
bool can_some_rows(const bench_point *point) {
    return bench_can_select(point) && point->rows > 1 && point->rows < 500;
}

/* This one counts all elements in an int. */
bool can_few_rows(const bench_point *point) {
    return bench_can_select(point) && point->rows > 1 && point->rows <= INT32_MAX / point->n;
}

cudaError_t run_radix_sort(const bench_task &t) {
    return cub::DeviceRadixSort::SortPairsDescending(t.scratch, t.scratch_bytes, t.input, t.values,
                                                     t.positions, t.indices, static_cast<int>(t.n), 0, 32,
                                                     t.stream);
}

cudaError_t run_segmented_radix_sort(const bench_task &t) {
    return cub::DeviceSegmentedRadixSort::SortPairsDescending(
        t.scratch, t.scratch_bytes, t.input, t.values, t.positions, t.indices, static_cast<int>(t.rows * t.n),
        static_cast<int>(t.rows), t.offsets, t.offsets + 1, 0, 32, t.stream);
}

cudaError_t run_segmented_sort(const bench_task &t) {
    return cub::DeviceSegmentedSort::StableSortPairsDescending(t.scratch, t.scratch_bytes, t.input, t.values,
                                                               t.positions, t.indices, t.rows * t.n, t.rows,
                                                               t.offsets, t.offsets + 1, t.stream);
}

#ifdef BENCH_HAS_DEVICE_TOPK
bool can_topk(const bench_point *point) {
    return can_row(point) && point->order == TOPK_ORDER_ANY && point->ties == TOPK_TIES_ANY;
}

cudaError_t run_topk(const bench_task &t) {
    const auto promises = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                                   cuda::execution::output_ordering::unsorted);
    const cuda::stream_ref stream{t.stream};
    const auto environment = cuda::std::execution::env{stream, promises};
    return cub::DeviceTopK::MaxPairs(t.scratch, t.scratch_bytes, t.input, t.values, t.positions, t.indices,
                                     static_cast<int>(t.n), static_cast<int>(t.k), environment);
}
#endif

using all_positions = thrust::counting_iterator<std::int32_t>;

/* The predicate. It gets a position, and reads the element there; or, where values are selected, the element.
 */
struct above {
    const float *input;
    float bound;

    __host__ __device__ bool operator()(std::int32_t i) const {
        return input[i] > bound;
    }
    __host__ __device__ bool operator()(float value) const {
        return value > bound;
    }
};

cudaError_t run_flagged(const bench_task &t) {
    return cub::DeviceSelect::Flagged(t.scratch, t.scratch_bytes, all_positions(0), t.flags, t.indices,
                                      t.count, t.n, t.stream);
}

cudaError_t run_if(const bench_task &t) {
    return cub::DeviceSelect::If(t.scratch, t.scratch_bytes, all_positions(0), t.indices, t.count, t.n,
                                 above{t.input, t.bound}, t.stream);
}

cudaError_t run_if_values(const bench_task &t) {
    return cub::DeviceSelect::If(t.scratch, t.scratch_bytes, t.input, t.values, t.count, t.n,
                                 above{t.input, t.bound}, t.stream);
}

/* Hands out the scratch of the rival, from front to back, and all of it again when nothing is in use. What
 * does not fit is an exception: no call allocates while it is timed. */
class scratch_allocator {
  public:
    using value_type = char;

    scratch_allocator(void *scratch, std::size_t bytes) : begin(static_cast<char *>(scratch)), room(bytes) {
    }
    char *allocate(std::ptrdiff_t bytes) {
        constexpr std::size_t alignment = 256;
        const std::size_t needed = (static_cast<std::size_t>(bytes) + alignment - 1) / alignment * alignment;
        if (needed > room - used) {
            throw std::bad_alloc();
        }
        char *const taken = begin + used;
        used += needed;
        ++in_use;
        return taken;
    }
    void deallocate(char *, std::size_t) {
        used = --in_use == 0 ? 0 : used;
    }

  private:
    char *begin;
    std::size_t room, used = 0;
    int in_use = 0;
};

/* Copies what is above the bound, and says how much it was. Thrust does not say what it needs: what CUB
 * needs, which it calls, and something for its own. */
template <typename From, typename To, typename Above>
cudaError_t run_thrust(const bench_task &t, cudaError_t (*of_cub)(const bench_task &), From from, To to,
                       Above predicate) try {
    constexpr std::size_t own_bytes = 4096;
    if (t.scratch == nullptr) {
        const cudaError_t status = of_cub(t);
        t.scratch_bytes += own_bytes;
        return status;
    }
    scratch_allocator allocator(t.scratch, t.scratch_bytes);
    const auto policy = thrust::cuda::par_nosync(allocator).on(t.stream);
    t.rival->host_count = thrust::copy_if(policy, from, from + t.n, to, predicate) - to;
    return cudaSuccess;
} catch (const std::bad_alloc &) {
    return cudaErrorMemoryAllocation;
} catch (const std::exception &) {
    const cudaError_t status = cudaGetLastError();
    return status != cudaSuccess ? status : cudaErrorUnknown;
}

cudaError_t run_copy_if(const bench_task &t) {
    return run_thrust(t, run_if, all_positions(0), t.indices, above{t.input, t.bound});
}

cudaError_t run_copy_if_values(const bench_task &t) {
    return run_thrust(t, run_if_values, t.input, t.values, above{t.input, t.bound});
}

} // namespace

const bench_rival_kind bench_toolkit_rivals[] = {
    {"cub::DeviceRadixSort", can_row, bench_run_rival<run_radix_sort>, BENCH_RIVAL_SORTS},
    {"cub::DeviceSegmentedSort", can_some_rows, bench_run_rival<run_segmented_sort>, BENCH_RIVAL_SORTS},
    {"cub::DeviceSegmentedRadixSort", can_few_rows, bench_run_rival<run_segmented_radix_sort>,
     BENCH_RIVAL_SORTS},
#ifdef BENCH_HAS_DEVICE_TOPK
    {"cub::DeviceTopK", can_topk, bench_run_rival<run_topk>, 0},
#endif
    {"cub::DeviceSelect::Flagged", bench_can_where<BENCH_INDICES>, bench_run_rival<run_flagged>,
     BENCH_RIVAL_FLAGS},
    {"cub::DeviceSelect::If", bench_can_where<BENCH_INDICES>, bench_run_rival<run_if>, 0},
    {"thrust::copy_if", bench_can_where<BENCH_INDICES>, bench_run_rival<run_copy_if>, BENCH_RIVAL_WAITS},
    {"cub::DeviceSelect::If", bench_can_where<BENCH_VALUES>, bench_run_rival<run_if_values>, 0},
    {"thrust::copy_if", bench_can_where<BENCH_VALUES>, bench_run_rival<run_copy_if_values>,
     BENCH_RIVAL_WAITS},
    {},
};
