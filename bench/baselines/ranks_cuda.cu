/* SPDX-License-Identifier: Apache-2.0 */
#include "baselines/compaction_cuda.h"

#include <cub/device/device_scan.cuh>

#include <cstdint>

namespace {

constexpr unsigned whole_warp = 0xffffffffu;
constexpr std::int64_t group = 32; /* elements that one ballot is about */

/* Each warp has 32 groups: 32 elements for each thread. Ballots and counters are written and read by
 * neighbouring lanes side by side. */
struct task {
    const float *input;
    std::int64_t n, groups;
    float bound;
    unsigned *ballots;  /* of each group */
    unsigned *counters; /* matches of each group; once scanned, those of all groups before it. One more for
                           the sum */
    std::int32_t *indices;
    std::int64_t *count;

    __device__ std::int64_t first_group() const {
        return (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32 * 32;
    }
};

__global__ void count_groups(task t) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const std::int64_t first = t.first_group();
    unsigned mine = 0; /* the ballot of the group that is this lane's to write */
    for (int g = 0; g < 32; ++g) {
        const std::int64_t i = (first + g) * group + lane;
        const unsigned ballot = __ballot_sync(whole_warp, i < t.n && t.input[i] > t.bound);
        mine = g == lane ? ballot : mine;
    }
    if (first + lane < t.groups) {
        t.ballots[first + lane] = mine;
        t.counters[first + lane] = static_cast<unsigned>(__popc(mine));
    } else if (first + lane == t.groups) {
        t.counters[t.groups] = 0;
    }
}

__global__ void write_groups(task t) {
    const unsigned lane = threadIdx.x % 32;
    const std::int64_t first = t.first_group();
    for (int g = 0; g < 32 && first + g < t.groups; ++g) {
        const unsigned ballot = __ldg(&t.ballots[first + g]);
        if (ballot >> lane & 1) {
            const unsigned before = static_cast<unsigned>(__popc(ballot & ((1u << lane) - 1)));
            t.indices[__ldg(&t.counters[first + g]) + before] =
                static_cast<std::int32_t>((first + g) * group + lane);
        }
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *t.count = t.counters[t.groups];
    }
}

std::int64_t groups_of(std::int64_t n) {
    return (n + group - 1) / group;
}

/* The scratch: ballots, counters and what the scan needs. */
struct layout {
    std::size_t ballots_bytes, counters_bytes, scan_bytes;
};

std::size_t rounded(std::size_t bytes) {
    return (bytes + 255) / 256 * 256;
}

cudaError_t layout_of(std::int64_t n, layout *parts) {
    const std::size_t groups = static_cast<std::size_t>(groups_of(n));
    unsigned *none = nullptr;
    parts->ballots_bytes = rounded(groups * sizeof(unsigned));
    parts->counters_bytes = rounded((groups + 1) * sizeof(unsigned));
    parts->scan_bytes = 0;
    return cub::DeviceScan::ExclusiveSum(nullptr, parts->scan_bytes, none, none,
                                         static_cast<int>(groups + 1));
}

} // namespace

cudaError_t bench_compact_by_ranks_scratch(std::int64_t n, std::size_t *bytes) {
    layout parts;
    const cudaError_t status = layout_of(n, &parts);
    *bytes = parts.ballots_bytes + parts.counters_bytes + parts.scan_bytes;
    return status;
}

cudaError_t bench_compact_by_ranks(const bench_compaction *call) {
    layout parts;
    cudaError_t status = layout_of(call->n, &parts);
    if (status != cudaSuccess) {
        return status;
    }
    char *const scratch = static_cast<char *>(call->scratch);
    task t = {call->input, call->n, groups_of(call->n), call->bound,
              nullptr,     nullptr, call->indices,      call->count};
    t.ballots = reinterpret_cast<unsigned *>(scratch);
    t.counters = reinterpret_cast<unsigned *>(scratch + parts.ballots_bytes);
    /* A warp for each 32 of the groups and the sum behind them. */
    const std::int64_t lanes = (t.groups + 1 + 31) / 32 * 32;
    const unsigned threads = static_cast<unsigned>(call->threads);
    const unsigned blocks = static_cast<unsigned>((lanes + threads - 1) / threads);
    count_groups<<<blocks, threads, 0, call->stream>>>(t);
    status = cudaGetLastError();
    if (status == cudaSuccess) {
        status = cub::DeviceScan::ExclusiveSum(scratch + parts.ballots_bytes + parts.counters_bytes,
                                               parts.scan_bytes, t.counters, t.counters,
                                               static_cast<int>(t.groups + 1), call->stream);
    }
    if (status == cudaSuccess) {
        write_groups<<<blocks, threads, 0, call->stream>>>(t);
        status = cudaGetLastError();
    }
    return status;
}
