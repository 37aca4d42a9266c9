/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <stdio.h>

int topk_device_count(int *count) {
    const cudaError_t error = cudaGetDeviceCount(count);
    (void)cudaGetLastError(); /* what went wrong is returned, and not left for the caller's next check */
    return error;
}

int topk_device_query(int ordinal, struct device_info *info) {
    cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, ordinal);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        return error;
    }
    (void)snprintf(info->name, sizeof info->name, "%s", properties.name);
    info->major = properties.major;
    info->minor = properties.minor;
    info->sms = properties.multiProcessorCount;
    info->shared_bytes_max = (int)properties.sharedMemPerBlockOptin;
#ifdef TOPK_PORTABLE
    info->dependent_launch = false;
#else
    info->dependent_launch = properties.major >= 9;
#endif
    return 0;
}

int topk_device_enter(int ordinal, int *previous) {
    cudaError_t error = cudaGetDevice(previous);
    if (error == cudaSuccess && *previous != ordinal) {
        error = cudaSetDevice(ordinal);
    }
    return error;
}

int topk_device_leave(int ordinal, int previous) {
    return previous == ordinal ? cudaSuccess : cudaSetDevice(previous);
}

int topk_device_zero(topk_stream stream, void *address, size_t bytes) {
    return bytes == 0 ? cudaSuccess : cudaMemsetAsync(address, 0, bytes, stream);
}

const char *topk_device_error(int error) {
    (void)cudaGetLastError();
    return cudaGetErrorString((cudaError_t)error);
}
