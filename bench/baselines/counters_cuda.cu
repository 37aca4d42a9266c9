/* SPDX-License-Identifier: Apache-2.0
 *
 * Selections of the elements above a bound as Bakunas-Milanowski, Rego, Sang and Yu compare theirs with, in A
 * Fast Parallel Selection Algorithm on GPUs: by counters, in any order. */
#include "gpu/rivals_cuda.h"

#include <cstdint>

namespace {

constexpr unsigned whole_warp = 0xffffffffu;

/* One element for each thread. The counter is the lower half of the 64-bit count; the upper one stays 0. */
struct task {
    const float *input;
    std::int64_t n;
    float bound;
    std::int32_t *indices;
    unsigned *counter;
    unsigned limit; /* of an increment; see below */

    __device__ std::int64_t position() const {
        return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    }
    __device__ bool match(std::int64_t i) const {
        return i < n && input[i] > bound;
    }
    __device__ void put(unsigned slot, std::int64_t i) const {
        indices[slot] = static_cast<std::int32_t>(i);
    }
};

/* Adds 1. Additions are what the compiler aggregates over a warp by itself, and so are increments with a
 * limit that it knows to be out of reach. */
__device__ unsigned next_of(unsigned *counter, unsigned limit) {
    return atomicInc(counter, limit);
}

/* One counter in global memory: each match takes the next slot. */
__global__ void by_counter(task t) {
    const std::int64_t i = t.position();
    if (t.match(i)) {
        t.put(next_of(t.counter, t.limit), i);
    }
}

/* A counter in the shared memory of each block, and one addition to the global one for each block. */
__global__ void by_blocks(task t) {
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
__global__ void by_warps(task t) {
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
        t.put(first + static_cast<unsigned>(__popc(matches & ((1u << lane) - 1))), i);
    }
}

template <void (*Kernel)(task)> cudaError_t run(const bench_rival_task *call) {
    if (call->scratch == nullptr) {
        *call->scratch_bytes = 0;
        return cudaSuccess;
    }
    const cudaError_t status = cudaMemsetAsync(call->count, 0, sizeof *call->count, call->stream);
    if (status != cudaSuccess) {
        return status;
    }
    const unsigned blocks = static_cast<unsigned>((call->n + call->block - 1) / call->block);
    Kernel<<<blocks, static_cast<unsigned>(call->block), 0, call->stream>>>(
        {call->input, call->n, call->bound, call->indices, reinterpret_cast<unsigned *>(call->count),
         0xffffffffu});
    return cudaGetLastError();
}

constexpr int traits = BENCH_RIVAL_ANY_ORDER | BENCH_RIVAL_BLOCKS;
const bench_rival_kind kinds[] = {
    {"baseline-counter", bench_where_rival_can, run<by_counter>, traits},
    {"baseline-blocks", bench_where_rival_can, run<by_blocks>, traits},
    {"baseline-warps", bench_where_rival_can, run<by_warps>, traits},
};

} // namespace

const bench_rival_kinds bench_counter_baselines = {kinds, static_cast<int>(sizeof kinds / sizeof *kinds)};
