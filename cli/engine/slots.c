/* SPDX-License-Identifier: Apache-2.0 */
#include "slots.h"

#include <string.h>

void slots_begin(struct slots *slots, uint64_t bytes) {
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        slots->host[i] = device_allocate_pinned(bytes);
        slots->device[i] = device_allocate(bytes);
    }
    slots->next = 0;
}

const void *slots_upload(struct slots *slots, const void *elements, uint64_t bytes) {
    const int slot = slots->next;
    device_slot_wait(slot);
    if (bytes > 0)
        memcpy(slots->host[slot], elements, bytes);
    device_slot_upload(slot, slots->device[slot], slots->host[slot], bytes);
    return slots->device[slot];
}

void slots_pass(struct slots *slots) {
    device_slot_used(slots->next);
    slots->next = (slots->next + 1) % DEVICE_SLOTS;
}

void slots_end(struct slots *slots) {
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        device_release(slots->device[i]);
        device_release_pinned(slots->host[i]);
    }
    *slots = (struct slots){0};
}
