/* SPDX-License-Identifier: Apache-2.0 */
#include "baselines/compaction_cuda.h"

#include <cub/device/device_scan.cuh>

#include <cstdint>

namespace {

constexpr unsigned whole_warp = 0xffffffffu;
constexpr std::int64_t chunk = 32 * 32; /* elements of a warp: a word of bits for each lane */

struct task {
    const float *input;
    std::int64_t n, chunks;
    float bound;
    unsigned *bits;   /* of each 32 elements */
    unsigned *counts; /* matches of each chunk; once scanned, those of all chunks before it. One more for the
                         sum */
    std::int32_t *indices;
    std::int64_t *count;

    /* The chunk of this warp. */
    __device__ std::int64_t own_chunk() const {
        return (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    }
};

/* The sum over this lane and those below it. */
__device__ unsigned sum_of_lanes(unsigned term) {
    const unsigned lane = threadIdx.x % 32;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const unsigned other = __shfl_up_sync(whole_warp, term, distance);
        term += lane >= distance ? other : 0;
    }
    return term;
}

__global__ void count_chunks(task t) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const std::int64_t own = t.own_chunk();
    if (own > t.chunks) {
        return; /* the whole warp */
    }
    unsigned mine = 0; /* the word of this lane */
    for (int w = 0; w < 32; ++w) {
        const std::int64_t i = own * chunk + w * 32 + lane;
        const unsigned word = __ballot_sync(whole_warp, i < t.n && t.input[i] > t.bound);
        mine = w == lane ? word : mine;
    }
    const unsigned matches = sum_of_lanes(static_cast<unsigned>(__popc(mine)));
    if (own < t.chunks) {
        t.bits[own * 32 + lane] = mine;
    }
    if (lane == 31) {
        t.counts[own] = matches; /* 0 behind the last chunk */
    }
}

__global__ void write_chunks(task t) {
    const unsigned lane = threadIdx.x % 32;
    const std::int64_t own = t.own_chunk();
    if (own >= t.chunks) {
        return; /* the whole warp */
    }
    const unsigned mine = t.bits[own * 32 + lane];
    const unsigned matches = static_cast<unsigned>(__popc(mine));
    const unsigned before = t.counts[own] + sum_of_lanes(matches) - matches; /* this word */
    for (int w = 0; w < 32; ++w) {
        const unsigned word = __shfl_sync(whole_warp, mine, w), first = __shfl_sync(whole_warp, before, w);
        if (word >> lane & 1) {
            t.indices[first + static_cast<unsigned>(__popc(word & ((1u << lane) - 1)))] =
                static_cast<std::int32_t>(own * chunk + w * 32 + lane);
        }
    }
    if (own == 0 && lane == 0) {
        *t.count = t.counts[t.chunks];
    }
}

/* The scratch: bits, counts and what the scan needs. */
struct layout {
    std::size_t bits_bytes, counts_bytes, scan_bytes;
    int counts;
};

std::size_t rounded(std::size_t bytes) {
    return (bytes + 255) / 256 * 256;
}

cudaError_t layout_of(std::int64_t n, layout *parts) {
    const std::size_t chunks = static_cast<std::size_t>((n + chunk - 1) / chunk);
    unsigned *none = nullptr;
    parts->bits_bytes = rounded(chunks * chunk / 8);
    parts->counts_bytes = rounded((chunks + 1) * sizeof(unsigned));
    parts->scan_bytes = 0;
    parts->counts = static_cast<int>(chunks + 1);
    return cub::DeviceScan::ExclusiveSum(nullptr, parts->scan_bytes, none, none, parts->counts);
}

} // namespace

cudaError_t bench_compact_by_phases_scratch(std::int64_t n, std::size_t *bytes) {
    layout parts;
    const cudaError_t status = layout_of(n, &parts);
    *bytes = parts.bits_bytes + parts.counts_bytes + parts.scan_bytes;
    return status;
}

cudaError_t bench_compact_by_phases(const bench_compaction *call) {
    layout parts;
    cudaError_t status = layout_of(call->n, &parts);
    if (status != cudaSuccess) {
        return status;
    }
    char *const scratch = static_cast<char *>(call->scratch);
    task t = {call->input,   call->n,    (call->n + chunk - 1) / chunk, call->bound, nullptr, nullptr,
              call->indices, call->count};
    t.bits = reinterpret_cast<unsigned *>(scratch);
    t.counts = reinterpret_cast<unsigned *>(scratch + parts.bits_bytes);
    void *const of_scan = scratch + parts.bits_bytes + parts.counts_bytes;
    const unsigned threads = static_cast<unsigned>(call->threads);
    const unsigned blocks = static_cast<unsigned>((32 * (t.chunks + 1) + threads - 1) / threads);
    count_chunks<<<blocks, threads, 0, call->stream>>>(t);
    status = cudaGetLastError();
    if (status == cudaSuccess) {
        status = cub::DeviceScan::ExclusiveSum(of_scan, parts.scan_bytes, t.counts, t.counts, parts.counts,
                                               call->stream);
    }
    if (status == cudaSuccess) {
        write_chunks<<<blocks, threads, 0, call->stream>>>(t);
        status = cudaGetLastError();
    }
    return status;
}
