// SPDX-License-Identifier: Apache-2.0
// The emulated GPU's answers to host code: one device, whose memory is the host's and whose streams are all
// one.
#include "../../../src/cuda/device.h"
#include "../../../src/cuda/launch.cuh"

#include <cstdio>

enum { INVALID_DEVICE = 101 };

int topk_device_count(int *count) {
    *count = 1;
    return 0;
}

int topk_device_query(int ordinal, struct device_info *info) {
    if (ordinal != 0)
        return INVALID_DEVICE;
    std::snprintf(info->name, sizeof info->name, "emulated GPU");
    info->major = 9;
    info->minor = 0;
    info->sms = 4;
    info->shared_bytes_max = 227 << 10;
    return 0;
}

bool topk_device_knows_dependent_launches(void) {
    return true;
}

int topk_device_capability(int ordinal, int *major, int *minor) {
    *major = 9;
    *minor = 0;
    return ordinal == 0 ? 0 : INVALID_DEVICE;
}

int topk_device_open(int ordinal, struct device_handle *handle) {
    handle->ordinal = ordinal;
    return ordinal == 0 ? 0 : INVALID_DEVICE;
}

void topk_device_close(struct device_handle *) {
}

int topk_device_enter(const struct device_handle *) {
    return 0;
}

int topk_device_leave(const struct device_handle *) {
    return 0;
}

int topk_device_zero(topk_stream stream, void *address, size_t bytes) {
    return bytes == 0 ? 0 : simt_memset_async(stream, address, 0, bytes);
}

int topk_device_copy(topk_stream stream, void *to, const void *from, size_t bytes) {
    return bytes == 0 ? 0 : simt_copy_async(stream, to, from, bytes);
}

const char *topk_device_error(int) {
    return "the emulated GPU refused";
}
