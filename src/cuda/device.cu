/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#include "launch.cuh"

/* Compiled as all kernels are: tells for which architecture. */
static TOPK_KERNEL void topk_compiled_for(int) {
}

int topk_device_count(int *count) {
    return cudaGetDeviceCount(count);
}

int topk_device_capability(int ordinal, int *major, int *minor) {
    const cudaError_t error = cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, ordinal);
    return error != cudaSuccess ? error
                                : cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, ordinal);
}

/* What the device says of itself, or 0 if it does not know. */
static double attribute(int ordinal, cudaDeviceAttr of) {
    int value = 0;
    return cudaDeviceGetAttribute(&value, of, ordinal) == cudaSuccess && value > 0 ? value : 0;
}

/* By clocks and the width of the memory's bus. Part of a GPU may name the memory of the whole: its
 * multiprocessors draw no more than some multiple of what an H200's draw. */
static void find_speeds(int ordinal, struct device_info *info) {
    const double clock_of_h200 = 1980e3, memory_of_h200 = 3201e3 * 6144, most = 2; /* kHz; kHz x bits */
    const double clock = attribute(ordinal, cudaDevAttrClockRate);
    const double memory = attribute(ordinal, cudaDevAttrMemoryClockRate) *
                          attribute(ordinal, cudaDevAttrGlobalMemoryBusWidth) / memory_of_h200;
    info->sm_speed = clock > 0 ? clock / clock_of_h200 : 1;
    const double of_sms = info->sm_speed * info->sms / DEVICE_SMS_OF_H200;
    info->memory_speed = memory > 0 && memory < most * of_sms ? memory : memory > 0 ? most * of_sms : of_sms;
}

/* TOPK_PORTABLE is for tests on a GPU with more shared memory than those that they stand for:
 * TOPK_SHARED_KIB says how much a block is to have. */
static int shared_bytes_for_tests(int bytes) {
#ifdef TOPK_PORTABLE
    const char *kib = getenv("TOPK_SHARED_KIB");
    if (kib != NULL && atoi(kib) << 10 < bytes)
        return atoi(kib) << 10;
#endif
    return bytes;
}

int topk_device_query(int ordinal, struct device_info *info) {
    cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, ordinal);
    if (error != cudaSuccess) {
        return error;
    }
    (void)snprintf(info->name, sizeof info->name, "%s", properties.name);
    info->major = properties.major;
    info->minor = properties.minor;
    info->sms = properties.multiProcessorCount;
    info->waiting_blocks = properties.cooperativeLaunch != 0 ? properties.multiProcessorCount : 0;
    info->shared_bytes_max = shared_bytes_for_tests((int)properties.sharedMemPerBlockOptin);
    find_speeds(ordinal, info);
    return 0;
}

bool topk_device_knows_dependent_launches(void) {
    return simt_architecture(topk_compiled_for) >= 90;
}

/* The driver's functions are looked up, so that the library loads where there is no driver. */
static cudaError_t find_driver(const char *name, void **function) {
    cudaDriverEntryPointQueryResult found;
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, function, 12000, cudaEnableDefault, &found);
    return error != cudaSuccess                   ? error
           : found == cudaDriverEntryPointSuccess ? cudaSuccess
                                                  : cudaErrorSymbolNotFound;
}

/* Results of the driver have the numbers of the runtime's errors. */
int topk_device_open(int ordinal, struct device_handle *handle) {
    void *retain = NULL;
    cudaError_t error = find_driver("cuDevicePrimaryCtxRetain", &retain);
    error = error != cudaSuccess ? error : find_driver("cuDevicePrimaryCtxRelease", &handle->release);
    error = error != cudaSuccess ? error : find_driver("cuCtxPushCurrent", &handle->push);
    error = error != cudaSuccess ? error : find_driver("cuCtxPopCurrent", &handle->pop);
    handle->ordinal = ordinal;
    if (error != cudaSuccess) {
        return (int)error;
    }
    return (int)((CUresult(*)(CUcontext *, CUdevice))retain)((CUcontext *)&handle->primary, ordinal);
}

void topk_device_close(struct device_handle *handle) {
    if (handle->primary != NULL) {
        (void)((CUresult(*)(CUdevice))handle->release)(handle->ordinal);
    }
}

int topk_device_enter(const struct device_handle *handle) {
    return ((CUresult(*)(CUcontext))handle->push)((CUcontext)handle->primary);
}

int topk_device_leave(const struct device_handle *handle) {
    CUcontext popped;
    return ((CUresult(*)(CUcontext *))handle->pop)(&popped);
}

int topk_device_zero(topk_stream stream, void *address, size_t bytes) {
    return bytes == 0 ? cudaSuccess : cudaMemsetAsync(address, 0, bytes, stream);
}

int topk_device_copy(topk_stream stream, void *to, const void *from, size_t bytes) {
    return bytes == 0 ? cudaSuccess : cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

int topk_device_transfer(topk_stream stream, void *to, const void *from, size_t bytes) {
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
}

/* The engine takes rows that do not overlap, and pitches below 2^31. */
int topk_device_transfer_rows(topk_stream stream, void *to, size_t to_pitch, const void *from,
                              size_t from_pitch, size_t row_bytes, int64_t rows) {
    if (rows == 1 || (to_pitch == row_bytes && from_pitch == row_bytes)) {
        return topk_device_transfer(stream, to, from, row_bytes * (size_t)rows);
    }
    if (from_pitch >= row_bytes && from_pitch <= INT32_MAX && to_pitch <= INT32_MAX) {
        return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, row_bytes, (size_t)rows, cudaMemcpyDefault,
                                 stream);
    }
    int error = cudaSuccess;
    for (int64_t row = 0; row < rows && error == cudaSuccess; row++) {
        error = topk_device_transfer(stream, (char *)to + (size_t)row * to_pitch,
                                     (const char *)from + (size_t)row * from_pitch, row_bytes);
    }
    return error;
}

int topk_device_create_stream(topk_stream *stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
}

int topk_device_destroy_stream(topk_stream stream) {
    return cudaStreamDestroy(stream);
}

int topk_device_create_event(topk_event *event) {
    return cudaEventCreateWithFlags(event, cudaEventDisableTiming);
}

int topk_device_destroy_event(topk_event event) {
    return cudaEventDestroy(event);
}

int topk_device_record(topk_event event, topk_stream stream) {
    return cudaEventRecord(event, stream);
}

int topk_device_await(topk_event event, topk_stream stream) {
    return cudaStreamWaitEvent(stream, event, 0);
}

int topk_device_wait_event(topk_event event) {
    return cudaEventSynchronize(event);
}

int topk_device_fill(topk_stream stream, void *to, int byte, size_t bytes) {
    return cudaMemsetAsync(to, byte, bytes, stream);
}

int topk_device_wait(topk_stream stream) {
    return cudaStreamSynchronize(stream);
}

/* A lack of room is no error that waits. */
static int outcome_of_allocation(cudaError_t error, int waiting, void **address) {
    if (error != cudaErrorMemoryAllocation) {
        return error;
    }
    *address = NULL;
    topk_device_forget_error(waiting);
    return cudaSuccess;
}

int topk_device_allocate(size_t bytes, void **address) {
    const int waiting = topk_device_waiting_error();
    *address = NULL;
    return outcome_of_allocation(cudaMalloc(address, bytes), waiting, address);
}

int topk_device_allocate_host(size_t bytes, void **address) {
    const int waiting = topk_device_waiting_error();
    *address = NULL;
    return outcome_of_allocation(cudaHostAlloc(address, bytes, cudaHostAllocDefault), waiting, address);
}

int topk_device_free_host(void *address) {
    const cudaError_t error = cudaDeviceSynchronize();
    return error != cudaSuccess ? error : cudaFreeHost(address);
}

/* cudaFree() may wait for work by itself, but need not. */
int topk_device_free(void *address) {
    const cudaError_t error = cudaDeviceSynchronize();
    return error != cudaSuccess ? error : cudaFree(address);
}

int topk_device_waiting_error(void) {
    return cudaPeekAtLastError();
}

void topk_device_forget_error(int waiting_before) {
    if (waiting_before == cudaSuccess) {
        (void)cudaGetLastError();
    }
}

const char *topk_device_error(int error) {
    return cudaGetErrorString((cudaError_t)error);
}
