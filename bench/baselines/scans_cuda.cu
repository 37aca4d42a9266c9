/* SPDX-License-Identifier: Apache-2.0
 *
 * Selections of the elements above a bound, in input order, by Bakunas-Milanowski, Rego, Sang and Yu: matches
 * are counted, the counters added up by a scan, and then the matches written. `ranks` is their earlier
 * version: a counter for each ballot of 32 elements. `phases` is the one of A Fast Parallel Selection
 * Algorithm on GPUs: a counter for each 1024 elements, the rest by shuffles. */
#include "gpu/rivals_cuda.h"

#include <cub/device/device_scan.cuh>

#include <cstdint>

namespace {

constexpr unsigned whole_warp = 0xffffffffu;

/* Each warp has 32 ballots, of 32 elements each: 32 elements for each thread. Neighbouring lanes write and
 * read ballots and counters side by side. */
struct task {
    const float *input;
    std::int64_t n, counted; /* elements, and how many counters count them */
    float bound;
    unsigned *ballots;
    unsigned *counters; /* matches; once scanned, the matches before. One more for the sum */
    std::int32_t *indices;
    std::int64_t *count;

    __device__ std::int64_t warp() const {
        return (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    }
    /* The ballot that is this lane's to write. */
    __device__ unsigned own_ballot() const {
        const int lane = static_cast<int>(threadIdx.x % 32);
        unsigned own = 0;
        for (int b = 0; b < 32; ++b) {
            const std::int64_t i = (warp() * 32 + b) * 32 + lane;
            const unsigned ballot = __ballot_sync(whole_warp, i < n && input[i] > bound);
            own = b == lane ? ballot : own;
        }
        return own;
    }
    /* Whether this lane has a match; then it may write it: `before` matches lie in front of the ballot. */
    __device__ static bool has(unsigned ballot) {
        return ballot >> threadIdx.x % 32 & 1;
    }
    __device__ void put(std::int64_t b, unsigned ballot, unsigned before) const {
        const unsigned lane = threadIdx.x % 32;
        indices[before + static_cast<unsigned>(__popc(ballot & ((1u << lane) - 1)))] =
            static_cast<std::int32_t>(b * 32 + lane);
    }
};

struct ranks {
    static constexpr std::int64_t elements = 32; /* of a counter */

    static __device__ void count(const task &t) {
        const std::int64_t b = t.warp() * 32 + threadIdx.x % 32;
        const unsigned own = t.own_ballot();
        if (b < t.counted) {
            t.ballots[b] = own;
            t.counters[b] = static_cast<unsigned>(__popc(own));
        } else if (b == t.counted) {
            t.counters[b] = 0;
        }
    }
    static __device__ void write(const task &t) {
        const std::int64_t first = t.warp() * 32;
        for (std::int64_t b = first; b < first + 32 && b < t.counted; ++b) {
            const unsigned ballot = __ldg(&t.ballots[b]);
            if (t.has(ballot)) {
                t.put(b, ballot, __ldg(&t.counters[b]));
            }
        }
    }
};

/* The sum over this lane and the lanes below it. */
__device__ unsigned sum_of_lanes(unsigned term) {
    const unsigned lane = threadIdx.x % 32;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const unsigned other = __shfl_up_sync(whole_warp, term, distance);
        term += lane >= distance ? other : 0;
    }
    return term;
}

struct phases {
    static constexpr std::int64_t elements = 32 * 32;

    static __device__ void count(const task &t) {
        const std::int64_t lane = threadIdx.x % 32, own = t.warp();
        if (own > t.counted) {
            return; /* the whole warp */
        }
        const unsigned ballot = t.own_ballot();
        const unsigned matches = sum_of_lanes(static_cast<unsigned>(__popc(ballot)));
        if (own < t.counted) {
            t.ballots[own * 32 + lane] = ballot;
        }
        if (lane == 31) {
            t.counters[own] = matches; /* 0 behind the last */
        }
    }
    static __device__ void write(const task &t) {
        const std::int64_t own = t.warp();
        if (own >= t.counted) {
            return; /* the whole warp */
        }
        const unsigned mine = t.ballots[own * 32 + threadIdx.x % 32];
        const unsigned matches = static_cast<unsigned>(__popc(mine));
        const unsigned before = t.counters[own] + sum_of_lanes(matches) - matches;
        for (int b = 0; b < 32; ++b) {
            const unsigned ballot = __shfl_sync(whole_warp, mine, b),
                           first = __shfl_sync(whole_warp, before, b);
            if (t.has(ballot)) {
                t.put(own * 32 + b, ballot, first);
            }
        }
    }
};

template <typename Way> __global__ void count(task t) {
    Way::count(t);
}

template <typename Way> __global__ void write(task t) {
    Way::write(t);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *t.count = t.counters[t.counted];
    }
}

std::size_t rounded(std::size_t bytes) {
    return (bytes + 255) / 256 * 256;
}

/* The scratch: ballots, counters and what the scan needs. */
template <typename Way> cudaError_t run(const bench_rival_task *call) {
    const std::int64_t counted = (call->n + Way::elements - 1) / Way::elements, counters = counted + 1;
    const std::size_t ballots_bytes = rounded(static_cast<std::size_t>(counted * Way::elements / 8));
    const std::size_t scan_at =
        ballots_bytes + rounded(static_cast<std::size_t>(counters) * sizeof(unsigned));
    char *const scratch = static_cast<char *>(call->scratch);
    unsigned *none = nullptr;
    std::size_t scan_bytes = 0;
    cudaError_t status =
        cub::DeviceScan::ExclusiveSum(nullptr, scan_bytes, none, none, static_cast<int>(counters));
    if (scratch == nullptr || status != cudaSuccess) {
        *call->scratch_bytes = scan_at + scan_bytes;
        return status;
    }
    const task t = {call->input,
                    call->n,
                    counted,
                    call->bound,
                    reinterpret_cast<unsigned *>(scratch),
                    reinterpret_cast<unsigned *>(scratch + ballots_bytes),
                    call->indices,
                    call->count};
    const unsigned threads = static_cast<unsigned>(call->block);
    /* A warp for each 1024 elements that counters count, the sum's counter among them. */
    const std::int64_t warps = (counters * Way::elements + 1023) / 1024;
    const unsigned blocks = static_cast<unsigned>((32 * warps + threads - 1) / threads);
    count<Way><<<blocks, threads, 0, call->stream>>>(t);
    status = cudaGetLastError();
    if (status == cudaSuccess) {
        status = cub::DeviceScan::ExclusiveSum(scratch + scan_at, scan_bytes, t.counters, t.counters,
                                               static_cast<int>(counters), call->stream);
    }
    if (status == cudaSuccess) {
        write<Way><<<blocks, threads, 0, call->stream>>>(t);
        status = cudaGetLastError();
    }
    return status;
}

const bench_rival_kind kinds[] = {
    {"baseline-ranks", bench_where_rival_can, run<ranks>, BENCH_RIVAL_BLOCKS},
    {"baseline-phases", bench_where_rival_can, run<phases>, BENCH_RIVAL_BLOCKS},
};

} // namespace

const bench_rival_kinds bench_scan_baselines = {kinds, static_cast<int>(sizeof kinds / sizeof *kinds)};
