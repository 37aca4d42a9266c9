/* SPDX-License-Identifier: Apache-2.0
 *
 * Selections of the elements above a bound, from A Fast Parallel Selection Algorithm on GPUs by
 * Bakunas-Milanowski, Rego, Sang and Yu. The paper compares with three that draw slots from a counter, in any
 * order. Its own keep the order of the input: they count matches, add up the counters by a scan, and then
 * write the matches. `ranks` is an earlier version by the authors: a counter for each ballot of 32 elements.
 * `phases` is the version of the paper: a counter for each 1024 elements, the rest by shuffles. */
#include "gpu/launch_cuda.cuh"
#include "gpu/rivals_cuda.h"

#include <cub/device/device_scan.cuh>

namespace {

constexpr unsigned whole_warp = 0xffffffffu;

/* What is selected, and where its positions go. */
struct selection {
    const float *input;
    std::int64_t n;
    float bound;
    std::int32_t *indices;

    __device__ bool match(std::int64_t i) const {
        return i < n && input[i] > bound;
    }
    __device__ void put(unsigned slot, std::int64_t i) const {
        indices[slot] = static_cast<std::int32_t>(i);
    }
};

selection selection_of(const bench_task &call) {
    return {call.input, call.n, call.bound, call.indices};
}

/* How many of the lanes in a ballot come before this one. */
__device__ unsigned lanes_before(unsigned ballot) {
    return static_cast<unsigned>(__popc(ballot & ((1u << threadIdx.x % 32) - 1)));
}

/* One element for each thread. The counter is the lower half of the 64-bit count; the upper one stays 0. */
struct counting : selection {
    unsigned *counter;
    unsigned limit; /* of an increment; see below */

    __device__ std::int64_t position() const {
        return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    }
};

/* Adds 1. Additions are what the compiler aggregates over a warp by itself, and so are increments with a
 * limit that it knows to be out of reach. */
__device__ unsigned next_of(unsigned *counter, unsigned limit) {
    return atomicInc(counter, limit);
}

/* One counter in global memory: each match takes the next slot. */
__global__ void by_counter(counting t) {
    const std::int64_t i = t.position();
    if (t.match(i)) {
        t.put(next_of(t.counter, t.limit), i);
    }
}

/* A counter in the shared memory of each block, and one addition to the global one for each block. */
__global__ void by_blocks(counting t) {
    __shared__ unsigned of_block, first;
    if (threadIdx.x == 0) {
        of_block = 0;
    }
    __syncthreads();
    const std::int64_t i = t.position();
    const bool match = t.match(i);
    const unsigned rank = match ? next_of(&of_block, t.limit) : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        first = atomicAdd(t.counter, of_block);
    }
    __syncthreads();
    if (match) {
        t.put(first + rank, i);
    }
}

/* One addition to the global counter for each warp that has matches, after A. V. Adinetz. */
__global__ void by_warps(counting t) {
    const unsigned lane = threadIdx.x % 32;
    const std::int64_t i = t.position();
    const bool match = t.match(i);
    const unsigned matches = __ballot_sync(whole_warp, match);
    if (matches == 0) {
        return; /* the whole warp */
    }
    const int leader = __ffs(static_cast<int>(matches)) - 1;
    unsigned first = 0;
    if (static_cast<int>(lane) == leader) {
        first = atomicAdd(t.counter, static_cast<unsigned>(__popc(matches)));
    }
    first = __shfl_sync(whole_warp, first, leader);
    if (match) {
        t.put(first + lanes_before(matches), i);
    }
}

unsigned blocks_for(std::int64_t threads, int block) {
    return static_cast<unsigned>((threads + block - 1) / block);
}

template <void (*Kernel)(counting)> bool run_counting(bench_rival *rival) {
    const bench_task call(rival);
    const counting t = {selection_of(call), reinterpret_cast<unsigned *>(call.count), 0xffffffffu};
    return call.scratch == nullptr ||
           (bench_device_ok(cudaMemsetAsync(call.count, 0, sizeof *call.count, call.stream), "counting") &&
            bench_launch(Kernel, blocks_for(call.n, call.block), static_cast<unsigned>(call.block),
                         call.stream, t));
}

/* Each warp has 32 ballots, of 32 elements each: 32 elements for each thread. Neighbouring lanes write and
 * read ballots and counters side by side. */
struct scanning : selection {
    std::int64_t counted; /* how many counters count the elements */
    unsigned *ballots;
    unsigned *counters; /* matches; once scanned, the matches before. One more for the sum */
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
            const unsigned ballot = __ballot_sync(whole_warp, match(i));
            own = b == lane ? ballot : own;
        }
        return own;
    }
    /* Whether this lane has a match; then it may write it: `before` matches lie in front of the ballot. */
    __device__ static bool has(unsigned ballot) {
        return ballot >> threadIdx.x % 32 & 1;
    }
    __device__ void put_match(std::int64_t b, unsigned ballot, unsigned before) const {
        put(before + lanes_before(ballot), b * 32 + threadIdx.x % 32);
    }
};

struct ranks {
    static constexpr std::int64_t elements = 32; /* of a counter */

    static __device__ void count(const scanning &t) {
        const std::int64_t b = t.warp() * 32 + threadIdx.x % 32;
        const unsigned own = t.own_ballot();
        if (b < t.counted) {
            t.ballots[b] = own;
            t.counters[b] = static_cast<unsigned>(__popc(own));
        } else if (b == t.counted) {
            t.counters[b] = 0;
        }
    }
    static __device__ void write(const scanning &t) {
        const std::int64_t first = t.warp() * 32;
        for (std::int64_t b = first; b < first + 32 && b < t.counted; ++b) {
            const unsigned ballot = __ldg(&t.ballots[b]);
            if (t.has(ballot)) {
                t.put_match(b, ballot, __ldg(&t.counters[b]));
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

    static __device__ void count(const scanning &t) {
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
    static __device__ void write(const scanning &t) {
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
                t.put_match(own * 32 + b, ballot, first);
            }
        }
    }
};

template <typename Way> __global__ void count(scanning t) {
    Way::count(t);
}

template <typename Way> __global__ void write(scanning t) {
    Way::write(t);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *t.count = t.counters[t.counted];
    }
}

std::size_t rounded(std::size_t bytes) {
    return (bytes + 255) / 256 * 256;
}

/* The scratch: ballots, counters and what the scan needs. */
template <typename Way> bool run_scanning(bench_rival *rival) {
    const bench_task call(rival);
    const std::int64_t counted = (call.n + Way::elements - 1) / Way::elements, counters = counted + 1;
    const std::size_t ballots_bytes = rounded(static_cast<std::size_t>(counted * Way::elements / 8));
    const std::size_t scan_at =
        ballots_bytes + rounded(static_cast<std::size_t>(counters) * sizeof(unsigned));
    char *const scratch = static_cast<char *>(call.scratch);
    const scanning t = {selection_of(call), counted, reinterpret_cast<unsigned *>(scratch),
                        reinterpret_cast<unsigned *>(scratch + ballots_bytes), call.count};
    std::size_t scan_bytes = 0;
    const auto scan = [&](void *own) {
        return bench_device_ok(cub::DeviceScan::ExclusiveSum(own, scan_bytes, t.counters, t.counters,
                                                             static_cast<int>(counters), call.stream),
                               "a scan");
    };
    if (!scan(nullptr) || scratch == nullptr) {
        call.scratch_bytes = scan_at + scan_bytes;
        return scratch == nullptr;
    }
    const unsigned threads = static_cast<unsigned>(call.block);
    /* A warp for each 1024 elements that counters count, the sum's counter among them. */
    const unsigned blocks = blocks_for((counters * Way::elements + 1023) / 1024 * 32, call.block);
    return bench_launch(count<Way>, blocks, threads, call.stream, t) && scan(scratch + scan_at) &&
           bench_launch(write<Way>, blocks, threads, call.stream, t);
}

constexpr int of_counters = BENCH_RIVAL_ANY_ORDER | BENCH_RIVAL_BLOCKS;

} // namespace

const bench_rival_kind bench_device_baselines[] = {
    {"baseline-counter", bench_can_where<BENCH_INDICES>, run_counting<by_counter>, of_counters},
    {"baseline-blocks", bench_can_where<BENCH_INDICES>, run_counting<by_blocks>, of_counters},
    {"baseline-warps", bench_can_where<BENCH_INDICES>, run_counting<by_warps>, of_counters},
    {"baseline-ranks", bench_can_where<BENCH_INDICES>, run_scanning<ranks>, BENCH_RIVAL_BLOCKS},
    {"baseline-phases", bench_can_where<BENCH_INDICES>, run_scanning<phases>, BENCH_RIVAL_BLOCKS},
    {},
};
