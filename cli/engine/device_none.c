/* SPDX-License-Identifier: Apache-2.0
 *
 * The tool without CUDA. It does not get here, unless it meets a library that has what the tool was built
 * without. */
#include "device.h"

#include "../base/fail.h"

static _Noreturn void fail_none(void) {
    fail("this topk was built without CUDA");
}

bool device_supported(void) {
    return false;
}

int device_count(void) {
    return 0;
}

void device_describe(int ordinal, struct device_text *text) {
    (void)ordinal;
    (void)text;
    fail_none();
}

void device_use(int ordinal) {
    (void)ordinal;
    fail_none();
}

uint64_t device_free_bytes(void) {
    return 0;
}

void *device_allocate(uint64_t bytes) {
    (void)bytes;
    fail_none();
}

void device_release(void *memory) {
    (void)memory;
}

void device_upload(void *device, const void *host, uint64_t bytes) {
    (void)device;
    (void)host;
    (void)bytes;
    fail_none();
}

void device_download(void *host, const void *device, uint64_t bytes) {
    (void)host;
    (void)device;
    (void)bytes;
    fail_none();
}

uint64_t device_slot_bytes(void) {
    return 0;
}

void *device_allocate_pinned(uint64_t bytes) {
    (void)bytes;
    fail_none();
}

void device_release_pinned(void *memory) {
    (void)memory;
}

void *device_allocate_early(int ordinal, uint64_t bytes) {
    (void)ordinal;
    (void)bytes;
    return NULL;
}

void device_release_early(void *memory) {
    (void)memory;
}

void device_slot_upload(int slot, void *device, const void *pinned, uint64_t bytes) {
    (void)slot;
    (void)device;
    (void)pinned;
    (void)bytes;
    fail_none();
}

void device_slot_used(int slot) {
    (void)slot;
    fail_none();
}

void device_slot_wait(int slot) {
    (void)slot;
    fail_none();
}

void device_slot_download(int slot, void *pinned, const void *device, uint64_t bytes) {
    (void)slot;
    (void)pinned;
    (void)device;
    (void)bytes;
    fail_none();
}

void device_slot_download_wait(int slot) {
    (void)slot;
    fail_none();
}
