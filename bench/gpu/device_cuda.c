/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/device_cuda.h"

#include <stdio.h>
#include <string.h>

enum { guard_bytes = 256, guard_byte = 0x3C, poison_byte = 0xA5 };

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

/* The rear guard begins right behind the contents. */
static size_t rear_bytes(const bench_buffer *buffer) {
    return guard_bytes + (size_t)(-buffer->bytes % guard_bytes);
}

static unsigned char *rear_of(const bench_buffer *buffer) {
    return buffer->base + guard_bytes + buffer->bytes;
}

bool bench_buffer_make(bench_buffer *buffer, size_t bytes) {
    const size_t needed = guard_bytes + (bytes + guard_bytes - 1) / guard_bytes * guard_bytes + guard_bytes;
    if (needed > buffer->room) {
        bench_buffer_free(buffer);
        void *memory = NULL;
        if (cudaMalloc(&memory, needed) != cudaSuccess) {
            (void)cudaGetLastError();
            return false;
        }
        buffer->base = memory;
        buffer->room = needed;
    }
    buffer->bytes = bytes;
    buffer->data = buffer->base + guard_bytes;
    return bench_device_ok(cudaMemset(buffer->base, guard_byte, guard_bytes), "guarding a buffer") &&
           bench_device_ok(cudaMemset(rear_of(buffer), guard_byte, rear_bytes(buffer)),
                           "guarding a buffer") &&
           bench_device_ok(cudaDeviceSynchronize(), "guarding a buffer");
}

void bench_buffer_free(bench_buffer *buffer) {
    (void)cudaFree(buffer->base);
    memset(buffer, 0, sizeof *buffer);
}

bool bench_buffer_poison(const bench_buffer *buffer, cudaStream_t stream) {
    return buffer->bytes == 0 ||
           bench_device_ok(cudaMemsetAsync(buffer->data, poison_byte, buffer->bytes, stream), "poisoning");
}

static bool all_guard(const unsigned char *device, size_t bytes, cudaStream_t stream) {
    unsigned char seen[2 * guard_bytes];
    if (!bench_device_ok(cudaMemcpyAsync(seen, device, bytes, cudaMemcpyDeviceToHost, stream), "guards") ||
        !bench_device_ok(cudaStreamSynchronize(stream), "guards")) {
        return false;
    }
    for (size_t i = 0; i < bytes; ++i) {
        if (seen[i] != guard_byte) {
            return false;
        }
    }
    return true;
}

bool bench_buffer_intact(const bench_buffer *buffer, cudaStream_t stream) {
    return buffer->base == NULL || (all_guard(buffer->base, guard_bytes, stream) &&
                                    all_guard(rear_of(buffer), rear_bytes(buffer), stream));
}

static bool copy(void *to, const void *from, size_t bytes) {
    return bench_device_ok(cudaDeviceSynchronize(), "a copy") &&
           (bytes == 0 || bench_device_ok(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "a copy")) &&
           bench_device_ok(cudaDeviceSynchronize(), "a copy");
}

const bench_memory bench_device_memory = {bench_buffer_make, bench_buffer_free, bench_buffer_poison,
                                          bench_buffer_intact, copy};

size_t bench_device_free_bytes(void) {
    size_t available = 0, total = 0;
    return bench_device_ok(cudaMemGetInfo(&available, &total), "free memory") ? available : 0;
}
