/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../base/fail.h"
#include "device.h"

/* A process uses one device at most. */
static int current;

/* Streams of copies to the device and back, beside the default one, and how far each slot is. */
static cudaStream_t copies, copies_back;
static struct { cudaEvent_t copied, used, done, copied_back; } slots[DEVICE_SLOTS];

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

static void make_event(cudaEvent_t *event) {
    check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "make an event");
}

/* The streams do not wait for the default one, nor that for them. They are there until the process ends. */
static void make_slots(void) {
    if (copies != NULL)
        return;
    check(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking), "make a stream");
    check(cudaStreamCreateWithFlags(&copies_back, cudaStreamNonBlocking), "make a stream");
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        make_event(&slots[i].copied);
        make_event(&slots[i].used);
        make_event(&slots[i].done);
        make_event(&slots[i].copied_back);
    }
}

void device_use(int ordinal) {
    current = ordinal;
    check(cudaSetDevice(ordinal), "be used");
    make_slots();
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

/* Copies of this size take about 0.3 ms, a launch a thirtieth of that. Pinned memory takes the host long to
 * allocate: about 0.3 ms for each MiB. */
uint64_t device_slot_bytes(void) {
    return UINT64_C(16) << 20;
}

void *device_allocate_pinned(uint64_t bytes) {
    void *memory = NULL;
    const cudaError_t error = cudaMallocHost(&memory, bytes > 0 ? bytes : 1);
    if (error != cudaSuccess)
        fail("cuda:%d: cannot allocate %" PRIu64 " bytes of pinned memory: %s", current, bytes,
             cudaGetErrorString(error));
    return memory;
}

void device_release_pinned(void *memory) {
    check(cudaFreeHost(memory), "release memory");
}

/* Large pages, as fewer of them are cleared and pinned. They are touched before the device is used: that
 * waits for its start, and touching does not. */
void *device_allocate_early(int ordinal, uint64_t bytes) {
    const size_t page = (size_t)2 << 20;
    const size_t size = (bytes + page - 1) / page * page;
    void *memory = aligned_alloc(page, size);
    if (memory == NULL)
        return NULL;
    madvise(memory, size, MADV_HUGEPAGE);
    memset(memory, 0, size);
    if (cudaSetDevice(ordinal) == cudaSuccess &&
        cudaHostRegister(memory, size, cudaHostRegisterDefault) == cudaSuccess)
        return memory;
    free(memory);
    return NULL;
}

void device_release_early(void *memory) {
    if (memory != NULL)
        check(cudaHostUnregister(memory), "release memory");
    free(memory);
}

/* Nothing waits for an event that was never recorded. */
void device_slot_upload(int slot, void *device, const void *pinned, uint64_t bytes) {
    check(cudaStreamWaitEvent(copies, slots[slot].used, 0), "be written to");
    check(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, copies), "be written to");
    check(cudaEventRecord(slots[slot].copied, copies), "be written to");
    check(cudaStreamWaitEvent(NULL, slots[slot].copied, 0), "be written to");
}

void device_slot_used(int slot) {
    check(cudaEventRecord(slots[slot].used, NULL), "be written to");
}

void device_slot_wait(int slot) {
    check(cudaEventSynchronize(slots[slot].copied), "be written to");
}

void device_slot_download(int slot, void *pinned, const void *device, uint64_t bytes) {
    check(cudaEventRecord(slots[slot].done, NULL), "be read");
    check(cudaStreamWaitEvent(copies_back, slots[slot].done, 0), "be read");
    check(cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, copies_back), "be read");
    check(cudaEventRecord(slots[slot].copied_back, copies_back), "be read");
}

void device_slot_download_wait(int slot) {
    check(cudaEventSynchronize(slots[slot].copied_back), "be read");
}
