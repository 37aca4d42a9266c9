/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/device_cuda.h"

#include <stdio.h>

static char error_text[160];
static bool error_told = true;

bool bench_device_ok(cudaError_t status, const char *what) {
    if (status == cudaSuccess) {
        return true;
    }
    (void)cudaGetLastError(); /* what can be forgotten is */
    if (error_told) {
        snprintf(error_text, sizeof error_text, "%s: %s", what, cudaGetErrorString(status));
        error_told = false;
    }
    return false;
}

const char *bench_device_error(void) {
    const bool news = !error_told;
    error_told = true;
    return news ? error_text : "";
}

static void *allocate(size_t bytes) {
    void *memory = NULL;
    if (cudaMalloc(&memory, bytes) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    return memory;
}

static void release(void *memory) {
    (void)cudaFree(memory);
}

static bool is_idle(void) {
    return bench_device_ok(cudaDeviceSynchronize(), "earlier work");
}

static bool fill(void *to, int byte, size_t bytes) {
    return is_idle() && bench_device_ok(cudaMemset(to, byte, bytes), "filling memory") && is_idle();
}

static bool copy(void *to, const void *from, size_t bytes) {
    return is_idle() && bench_device_ok(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "a copy") &&
           is_idle();
}

const bench_memory bench_device_memory = {SIZE_MAX, allocate, release, fill, copy};

size_t bench_device_free_bytes(void) {
    size_t available = 0, total = 0;
    return bench_device_ok(cudaMemGetInfo(&available, &total), "free memory") ? available : 0;
}
