/* SPDX-License-Identifier: Apache-2.0
 * Errors and device memory for neighbours_cuda.cu. */
#ifndef TOPK_EXAMPLES_NEIGHBOURS_MEMORY_CUH
#define TOPK_EXAMPLES_NEIGHBOURS_MEMORY_CUH

#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <vector>

#include <cuda_runtime.h>

[[noreturn]] inline void fail(const char *what) {
    (void)fprintf(stderr, "neighbours_cuda: %s\n", what);
    exit(EXIT_FAILURE);
}

inline void require(cudaError_t error) {
    if (error != cudaSuccess)
        fail(cudaGetErrorString(error));
}

template <typename T> T *on_device(size_t count) {
    void *memory;
    require(cudaMalloc(&memory, std::max<size_t>(count, 1) * sizeof(T)));
    return static_cast<T *>(memory);
}

template <typename T> std::vector<T> to_host(const T *from, size_t count) {
    std::vector<T> values(count);
    require(cudaMemcpy(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

#endif
