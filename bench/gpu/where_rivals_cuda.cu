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

bool bench_where_rival_can(const bench_point *point) {
    return point->operation == TOPK_OPERATION_WHERE && point->type == TOPK_F32 && point->rows == 1 &&
           point->n >= 1 && point->n <= INT32_MAX && point->index_type == TOPK_INDEX_I32 &&
           point->predicate == BENCH_GREATER && point->wanted == BENCH_INDICES;
}

namespace {

using positions = thrust::counting_iterator<std::int32_t>;

/* The predicate: it gets a position, and reads the element there. */
struct above {
    const float *input;
    float bound;

    __host__ __device__ bool operator()(std::int32_t i) const {
        return input[i] > bound;
    }
};

std::int32_t *indices_of(const bench_gpu_rival *rival) {
    return static_cast<std::int32_t *>(rival->outputs.view.indices);
}

std::int64_t *count_of(const bench_gpu_rival *rival) {
    return rival->outputs.view.offsets + rival->point->rows;
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

/* Thrust does not say what it needs: that of CUB, which it calls, and something for its own. */
cudaError_t run_copy_if(bench_gpu_rival *rival, const void *input, void *scratch,
                        std::size_t *scratch_bytes) try {
    constexpr std::size_t own_bytes = 4096;
    if (scratch == nullptr) {
        const cudaError_t status = run_if(rival, input, nullptr, scratch_bytes);
        *scratch_bytes += own_bytes;
        return status;
    }
    scratch_allocator allocator(scratch, *scratch_bytes);
    const auto policy = thrust::cuda::par_nosync(allocator).on(rival->stream);
    std::int32_t *const indices = indices_of(rival);
    const positions first(0), last(static_cast<std::int32_t>(rival->point->n));
    const above predicate = {static_cast<const float *>(input), rival->bound};
    rival->count = thrust::copy_if(policy, first, last, indices, predicate) - indices;
    return cudaSuccess;
} catch (const std::bad_alloc &) {
    return cudaErrorMemoryAllocation;
} catch (const std::exception &) {
    const cudaError_t status = cudaGetLastError();
    return status != cudaSuccess ? status : cudaErrorUnknown;
}

const bench_gpu_rival_kind kinds[] = {
    {"cub::DeviceSelect::Flagged", bench_where_rival_can, run_flagged, false, true, false, false},
    {"cub::DeviceSelect::If", bench_where_rival_can, run_if, false, false, false, false},
    {"thrust::copy_if", bench_where_rival_can, run_copy_if, false, false, false, true},
};

} // namespace

bench_gpu_rival_kinds bench_where_rivals(void) {
    return {kinds, static_cast<int>(sizeof kinds / sizeof *kinds)};
}
