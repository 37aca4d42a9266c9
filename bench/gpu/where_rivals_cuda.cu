/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/rival_kind_cuda.h"

#include <cub/device/device_select.cuh>
#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/system/cuda/execution_policy.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>

namespace {

bool can(const bench_point *point, bench_wanted wanted) {
    return point->operation == TOPK_OPERATION_WHERE && point->type == TOPK_F32 && point->rows == 1 &&
           point->n >= 1 && point->n <= INT32_MAX && point->index_type == TOPK_INDEX_I32 &&
           point->predicate == BENCH_GREATER && point->wanted == wanted;
}

bool can_values(const bench_point *point) {
    return can(point, BENCH_VALUES);
}

using positions = thrust::counting_iterator<std::int32_t>;

/* The predicate: it gets a position, and reads the element there. */
struct above {
    const float *input;
    float bound;

    __host__ __device__ bool operator()(std::int32_t i) const {
        return input[i] > bound;
    }
};

/* The predicate where values are selected: it gets the element. */
struct value_above {
    float bound;

    __host__ __device__ bool operator()(float value) const {
        return value > bound;
    }
};

std::int32_t *indices_of(const bench_gpu_rival *rival) {
    return static_cast<std::int32_t *>(rival->outputs.indices);
}

float *values_of(const bench_gpu_rival *rival) {
    return static_cast<float *>(rival->outputs.values);
}

std::int64_t *count_of(const bench_gpu_rival *rival) {
    return rival->outputs.offsets + rival->point->rows;
}

cudaError_t run_flagged(bench_gpu_rival *rival, const void *input, void *scratch,
                        std::size_t *scratch_bytes) {
    return cub::DeviceSelect::Flagged(scratch, *scratch_bytes, positions(0),
                                      static_cast<const unsigned char *>(input), indices_of(rival),
                                      count_of(rival), rival->point->n, rival->stream);
}

cudaError_t run_if(bench_gpu_rival *rival, const void *input, void *scratch, std::size_t *scratch_bytes) {
    return cub::DeviceSelect::If(scratch, *scratch_bytes, positions(0), indices_of(rival), count_of(rival),
                                 rival->point->n, above{static_cast<const float *>(input), rival->bound},
                                 rival->stream);
}

cudaError_t run_if_values(bench_gpu_rival *rival, const void *input, void *scratch,
                          std::size_t *scratch_bytes) {
    return cub::DeviceSelect::If(scratch, *scratch_bytes, static_cast<const float *>(input), values_of(rival),
                                 count_of(rival), rival->point->n, value_above{rival->bound}, rival->stream);
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

/* What copies with a policy returns how many there were. Thrust does not say what it needs: that of CUB,
 * which it calls, and something for its own. */
template <typename Copy>
cudaError_t run_thrust(bench_gpu_rival *rival, void *scratch, std::size_t scratch_bytes, Copy copy) try {
    scratch_allocator allocator(scratch, scratch_bytes);
    rival->count = copy(thrust::cuda::par_nosync(allocator).on(rival->stream));
    return cudaSuccess;
} catch (const std::bad_alloc &) {
    return cudaErrorMemoryAllocation;
} catch (const std::exception &) {
    const cudaError_t status = cudaGetLastError();
    return status != cudaSuccess ? status : cudaErrorUnknown;
}
constexpr std::size_t thrust_bytes = 4096;

cudaError_t run_copy_if(bench_gpu_rival *rival, const void *input, void *scratch,
                        std::size_t *scratch_bytes) {
    if (scratch == nullptr) {
        const cudaError_t status = run_if(rival, input, nullptr, scratch_bytes);
        *scratch_bytes += thrust_bytes;
        return status;
    }
    const positions first(0), last(static_cast<std::int32_t>(rival->point->n));
    const above predicate = {static_cast<const float *>(input), rival->bound};
    std::int32_t *const to = indices_of(rival);
    return run_thrust(rival, scratch, *scratch_bytes, [=](const auto &policy) {
        return thrust::copy_if(policy, first, last, to, predicate) - to;
    });
}

cudaError_t run_copy_if_values(bench_gpu_rival *rival, const void *input, void *scratch,
                               std::size_t *scratch_bytes) {
    if (scratch == nullptr) {
        const cudaError_t status = run_if_values(rival, input, nullptr, scratch_bytes);
        *scratch_bytes += thrust_bytes;
        return status;
    }
    const float *const first = static_cast<const float *>(input), *const last = first + rival->point->n;
    const value_above predicate = {rival->bound};
    float *const to = values_of(rival);
    return run_thrust(rival, scratch, *scratch_bytes, [=](const auto &policy) {
        return thrust::copy_if(policy, first, last, to, predicate) - to;
    });
}

const bench_gpu_rival_kind kinds[] = {
    {"cub::DeviceSelect::Flagged", bench_where_rival_can, run_flagged, false, true, false, false},
    {"cub::DeviceSelect::If", bench_where_rival_can, run_if, false, false, false, false},
    {"thrust::copy_if", bench_where_rival_can, run_copy_if, false, false, false, true},
    {"cub::DeviceSelect::If", can_values, run_if_values, false, false, false, false},
    {"thrust::copy_if", can_values, run_copy_if_values, false, false, false, true},
};

} // namespace

bool bench_where_rival_can(const bench_point *point) {
    return can(point, BENCH_INDICES);
}

bench_gpu_rival_kinds bench_where_rivals(void) {
    return {kinds, static_cast<int>(sizeof kinds / sizeof *kinds)};
}
