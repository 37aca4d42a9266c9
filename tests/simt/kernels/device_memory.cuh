/* SPDX-License-Identifier: Apache-2.0
 * Memory that kernels reach: of the GPU, or the emulation's, which is the host's. */
#ifndef TOPK_TESTS_SIMT_DEVICE_MEMORY_CUH
#define TOPK_TESTS_SIMT_DEVICE_MEMORY_CUH

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "launch.cuh"

/* Ends the program unless `status` is 0. */
inline void require_success(int status, const char *what) {
    if (status == 0)
        return;
    fprintf(stderr, "%s: error %d\n", what, status);
    exit(1);
}

#ifdef __CUDACC__

inline void *device_allocate(size_t bytes) {
    void *memory = nullptr;
    require_success(cudaMalloc(&memory, bytes), "cudaMalloc");
    return memory;
}

inline void device_free(void *memory) {
    cudaFree(memory);
}

/* After all launches so far. */
inline void device_copy(void *to, const void *from, size_t bytes) {
    require_success(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
}

#else

inline void *device_allocate(size_t bytes) {
    return malloc(bytes);
}

inline void device_free(void *memory) {
    free(memory);
}

inline void device_copy(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
}

#endif

/* An array on the device. */
template <typename T> class device_array {
  public:
    explicit device_array(const std::vector<T> &from) : count(from.size()) {
        data = (T *)device_allocate(count * sizeof(T));
        device_copy(data, from.data(), count * sizeof(T));
    }
    explicit device_array(size_t zeros) : device_array(std::vector<T>(zeros)) {
    }
    ~device_array() {
        device_free(data);
    }
    device_array(const device_array &) = delete;

    std::vector<T> read() const {
        std::vector<T> values(count);
        device_copy(values.data(), data, count * sizeof(T));
        return values;
    }

    T *data;

  private:
    size_t count;
};

#endif
