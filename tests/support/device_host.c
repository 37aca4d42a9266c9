/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <string.h>

#include "random.h"

void device_open(void) {
}

void device_close(void) {
}

int device_calls_at_once(void) {
    return 1;
}

topk_stream device_stream(void) {
    return NULL;
}

device_buffer device_input(const void *data, size_t bytes) {
    void *same = (void *)(uintptr_t)data;
    return (device_buffer){.data = same, .seen = data, .bytes = bytes};
}

static device_buffer own(guarded guard) {
    guarded_hide_slack(&guard, false);
    return (device_buffer){.data = guard.data, .seen = guard.data, .bytes = guard.bytes, .guard = guard};
}

device_buffer device_output(size_t bytes, unsigned char fill) {
    guarded guard = guarded_allocate(bytes, GUARDED_AT_END);
    guarded_fill(&guard, fill);
    return own(guard);
}

device_buffer device_workspace(size_t bytes, long offset, int fill, uint64_t seed) {
    guarded guard = guarded_allocate(bytes, offset);
    if (fill != DEVICE_GARBAGE) {
        guarded_fill(&guard, (unsigned char)fill);
    } else {
        random_state random = {seed};
        for (size_t b = 0; b < bytes; b += sizeof(uint64_t)) {
            const uint64_t eight = random_bits(&random);
            memcpy((unsigned char *)guard.data + b, &eight,
                   bytes - b < sizeof eight ? bytes - b : sizeof eight);
        }
    }
    return own(guard);
}

void device_send(void) {
}

bool device_fetch(void) {
    return true;
}

const char *device_error(void) {
    return "";
}

bool device_intact(const device_buffer *buffer) {
    return buffer->guard.map == NULL || guarded_intact(&buffer->guard);
}

/* Inputs are read-only pages: a write faults. */
bool device_unchanged(const device_buffer *input, const void *data) {
    return input->seen == data;
}

void device_free(device_buffer *buffer) {
    guarded_free(&buffer->guard);
    *buffer = (device_buffer){.data = NULL};
}

void device_reset(void) {
}

size_t device_bytes_taken(void) {
    return 0;
}

bool device_capture_begin(void) {
    return true;
}

bool device_capture_launch(void) {
    return true;
}
