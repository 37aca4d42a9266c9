/* SPDX-License-Identifier: Apache-2.0
 *
 * The tool on the emulated GPU of tests/simt, whose memory is the host's: the library's CUDA backend at work
 * behind the tool, on any machine. Linked in place of engine/device_*.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/device.h"

bool device_supported(void) {
    return true;
}

int device_count(void) {
    return 1;
}

void device_describe(int ordinal, struct device_text *text) {
    snprintf(text->text, sizeof text->text, "emulated device %d", ordinal);
}

void device_use(int ordinal) {
    (void)ordinal;
}

uint64_t device_free_bytes(void) {
    return UINT64_C(1) << 33;
}

void *device_allocate(uint64_t bytes) {
    return allocate(bytes, 1);
}

void device_release(void *memory) {
    release(memory);
}

void device_upload(void *device, const void *host, uint64_t bytes) {
    memcpy(device, host, bytes);
}

void device_download(void *host, const void *device, uint64_t bytes) {
    memcpy(host, device, bytes);
}

/* Small, so that streams come in several parts. */
uint64_t device_slot_bytes(void) {
    return 4096;
}

void *device_allocate_pinned(uint64_t bytes) {
    return allocate(bytes, 1);
}

void device_release_pinned(void *memory) {
    release(memory);
}

void *device_allocate_early(int ordinal, uint64_t bytes) {
    (void)ordinal;
    return malloc(bytes);
}

void device_release_early(void *memory) {
    free(memory);
}

void device_slot_upload(int slot, void *device, const void *pinned, uint64_t bytes) {
    (void)slot;
    memcpy(device, pinned, bytes);
}

void device_slot_used(int slot) {
    (void)slot;
}

void device_slot_wait(int slot) {
    (void)slot;
}

void device_slot_download(int slot, void *pinned, const void *device, uint64_t bytes) {
    (void)slot;
    memcpy(pinned, device, bytes);
}

void device_slot_download_wait(int slot) {
    (void)slot;
}
