/* SPDX-License-Identifier: Apache-2.0 */
#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <stdio.h>

#include "../base/fail.h"
#include "device.h"

/* A process uses one device at most. */
static int current;

static void check(cudaError_t error, const char *action) {
    if (error != cudaSuccess)
        fail("cuda:%d: cannot %s: %s", current, action, cudaGetErrorString(error));
}

bool device_supported(void) {
    return true;
}

int device_count(void) {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

void device_describe(int ordinal, struct device_text *text) {
    struct cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, ordinal);
    if (error != cudaSuccess)
        snprintf(text->text, sizeof text->text, "%s", cudaGetErrorString(error));
    else
        snprintf(text->text, sizeof text->text, "%s, %.1f GiB, compute capability %d.%d", properties.name,
                 (double)properties.totalGlobalMem / (double)(1 << 30), properties.major, properties.minor);
}

void device_use(int ordinal) {
    current = ordinal;
    check(cudaSetDevice(ordinal), "be used");
}

uint64_t device_free_bytes(void) {
    size_t unused;
    size_t total;
    check(cudaMemGetInfo(&unused, &total), "tell its free memory");
    return unused;
}

void *device_allocate(uint64_t bytes) {
    void *memory = NULL;
    const cudaError_t error = cudaMalloc(&memory, bytes > 0 ? bytes : 1);
    if (error != cudaSuccess)
        fail("cuda:%d: cannot allocate %" PRIu64 " bytes of device memory: %s", current, bytes,
             cudaGetErrorString(error));
    return memory;
}

void device_release(void *memory) {
    check(cudaFree(memory), "release memory");
}

void device_upload(void *device, const void *host, uint64_t bytes) {
    if (bytes > 0)
        check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "be written to");
}

void device_download(void *host, const void *device, uint64_t bytes) {
    if (bytes > 0)
        check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "be read");
}
