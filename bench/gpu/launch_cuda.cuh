/* SPDX-License-Identifier: Apache-2.0
 *
 * Launching the benchmark's own kernels, and the few things in them that only hardware can do. */
#ifndef BENCH_LAUNCH_CUDA_CUH
#define BENCH_LAUNCH_CUDA_CUH

#include "gpu/device_cuda.h"

#include <cstdint>

/* The kernel's parameters must have exactly the types of the arguments. */
template <typename... Arguments>
bool bench_launch(void (*kernel)(Arguments...), unsigned blocks, unsigned threads, cudaStream_t stream,
                  Arguments... arguments) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.stream = stream;
    return bench_device_ok(cudaLaunchKernelEx(&config, kernel, arguments...), "a launch");
}

template <typename Body> __global__ void bench_for_each_kernel(Body body, std::int64_t count) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        body(i);
    }
}

/* Calls body(i) on the device for each i below count, neighbours in one warp. */
template <typename Body> bool bench_for_each(std::int64_t count, Body body, cudaStream_t stream) {
    constexpr std::int64_t threads = 256, blocks_max = 4096;
    const std::int64_t blocks = (count + threads - 1) / threads;
    return count <= 0 || bench_launch(bench_for_each_kernel<Body>,
                                      static_cast<unsigned>(blocks < blocks_max ? blocks : blocks_max),
                                      static_cast<unsigned>(threads), stream, body, count);
}

/* The device's clock. */
__device__ inline unsigned long long bench_nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* Adds the terms of all threads of the block to *total, with one atomic. All threads must call it. */
__device__ inline void bench_block_add(unsigned *total, unsigned term) {
    __shared__ unsigned of_warps[32];
    for (int distance = 16; distance > 0; distance /= 2) {
        term += __shfl_xor_sync(0xffffffffu, term, distance);
    }
    if (threadIdx.x % 32 == 0) {
        of_warps[threadIdx.x / 32] = term;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned warp = 1; warp < blockDim.x / 32; ++warp) {
            term += of_warps[warp];
        }
        atomicAdd(total, term);
    }
}

#endif // BENCH_LAUNCH_CUDA_CUH
