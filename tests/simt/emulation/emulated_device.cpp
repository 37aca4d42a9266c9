// SPDX-License-Identifier: Apache-2.0
// The emulated GPU's answers to host code. Memory is the host's, and streams are all one.
#include "emulated_device.h"

#include "../../../src/cuda/device.h"
#include "../../../src/cuda/launch.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

enum { NO_DEVICE = 100, INVALID_DEVICE = 101 };

static const int one_device[] = {90};
static const int *capabilities = one_device;
static int devices = 1;
static int multiprocessors = 4;
static int shared_kib_of_block; /* 0: not known yet */
static double speed_of_sm = 1, speed_of_memory = 1;
static uint32_t waiting_limit = UINT32_MAX;
static size_t memory_bytes = SIZE_MAX;

int emulated_waiting_error;

void emulated_devices(const int *of_each, int count) {
    capabilities = of_each;
    devices = count;
}

void emulated_room(uint32_t blocks, uint32_t cluster_blocks) {
    waiting_limit = blocks;
    simt_runtime::limit_device(blocks, cluster_blocks);
}

static void share(int kib) {
    shared_kib_of_block = kib;
    simt_runtime::limit_shared((uint32_t)kib << 10);
}

/* As emulated_size() or the environment says. */
static int shared_kib() {
    const char *given = std::getenv("TOPK_SHARED_KIB");
    if (shared_kib_of_block == 0)
        share(given != nullptr ? std::atoi(given) : 227);
    return shared_kib_of_block;
}

void emulated_size(int sms, int shared_kib, double sm_speed, double memory_speed) {
    multiprocessors = sms;
    speed_of_sm = sm_speed;
    speed_of_memory = memory_speed;
    share(shared_kib);
}

void emulated_memory(size_t bytes) {
    memory_bytes = bytes;
}

uint64_t emulated_launches(void) {
    return simt_runtime::launches();
}

/* As the runtime does. */
static int fail(int error) {
    emulated_waiting_error = error;
    return error;
}

static bool exists(int ordinal) {
    return ordinal >= 0 && ordinal < devices;
}

int topk_device_count(int *count) {
    *count = devices;
    return devices < 0 ? fail(NO_DEVICE) : 0;
}

int topk_device_query(int ordinal, struct device_info *info) {
    if (!exists(ordinal))
        return fail(INVALID_DEVICE);
    std::snprintf(info->name, sizeof info->name, "emulated GPU");
    info->major = capabilities[ordinal] / 10;
    info->minor = capabilities[ordinal] % 10;
    info->sms = multiprocessors;
    info->sm_speed = speed_of_sm;
    info->memory_speed = speed_of_memory;
    info->shared_bytes_max = shared_kib() << 10;
    info->waiting_blocks = (int)std::min(waiting_limit, (uint32_t)multiprocessors);
    return 0;
}

bool topk_device_knows_dependent_launches(void) {
    return true;
}

int topk_device_capability(int ordinal, int *major, int *minor) {
    if (!exists(ordinal))
        return fail(INVALID_DEVICE);
    *major = capabilities[ordinal] / 10;
    *minor = capabilities[ordinal] % 10;
    return 0;
}

int topk_device_open(int ordinal, struct device_handle *handle) {
    handle->ordinal = ordinal;
    return exists(ordinal) ? 0 : fail(INVALID_DEVICE);
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

int topk_device_transfer(topk_stream stream, void *to, const void *from, size_t bytes) {
    return simt_copy_async(stream, to, from, bytes);
}

int topk_device_transfer_rows(topk_stream stream, void *to, size_t to_pitch, const void *from,
                              size_t from_pitch, size_t row_bytes, int64_t rows) {
    for (int64_t row = 0; row < rows; row++)
        simt_copy_async(stream, (char *)to + row * to_pitch, (const char *)from + row * from_pitch,
                        row_bytes);
    return 0;
}

// Streams and events are names: all work is done when its call returns.
int topk_device_create_stream(topk_stream *stream) {
    *stream = (topk_stream) new char;
    return 0;
}

int topk_device_destroy_stream(topk_stream stream) {
    delete (char *)stream;
    return 0;
}

int topk_device_create_event(topk_event *event) {
    *event = (topk_event) new char;
    return 0;
}

int topk_device_destroy_event(topk_event event) {
    delete (char *)event;
    return 0;
}

int topk_device_record(topk_event, topk_stream) {
    return 0;
}

int topk_device_await(topk_event, topk_stream) {
    return 0;
}

int topk_device_wait_event(topk_event) {
    return 0;
}

int topk_device_fill(topk_stream stream, void *to, int byte, size_t bytes) {
    return simt_memset_async(stream, to, byte, bytes);
}

int topk_device_wait(topk_stream) {
    return 0;
}

int topk_device_allocate_host(size_t bytes, void **address) {
    return topk_device_allocate(bytes, address);
}

int topk_device_free_host(void *address) {
    return topk_device_free(address);
}

int topk_device_allocate(size_t bytes, void **address) {
    *address = bytes > memory_bytes ? nullptr : std::malloc(bytes);
    return 0;
}

int topk_device_free(void *address) {
    std::free(address);
    return 0;
}

int topk_device_waiting_error(void) {
    return emulated_waiting_error;
}

void topk_device_forget_error(int waiting_before) {
    if (waiting_before == 0)
        emulated_waiting_error = 0;
}

const char *topk_device_error(int) {
    return "the emulated GPU refused";
}
