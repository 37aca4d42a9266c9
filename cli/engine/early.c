/* SPDX-License-Identifier: Apache-2.0 */
#include "early.h"

#include "device.h"

/* All slots, or as many as are filled. */
static uint64_t bytes_for(uint64_t streamed_bytes) {
    const uint64_t slot = device_slot_bytes();
    if (streamed_bytes <= slot)
        return streamed_bytes;
    const uint64_t slots = (streamed_bytes - 1) / slot + 1;
    return slot * (slots < DEVICE_SLOTS ? slots : DEVICE_SLOTS);
}

static void *make(void *state) {
    struct early *early = state;
    early->memory = device_allocate_early(early->ordinal, early->bytes);
    return NULL;
}

void early_begin(struct early *early, int ordinal, uint64_t streamed_bytes) {
    *early = (struct early){.ordinal = ordinal, .bytes = bytes_for(streamed_bytes)};
    early->runs = early->bytes > 0 && pthread_create(&early->thread, NULL, make, early) == 0;
}

void early_wait(struct early *early) {
    if (early->runs)
        pthread_join(early->thread, NULL);
    early->runs = false;
    if (early->memory == NULL)
        early->bytes = 0;
}

void early_end(struct early *early) {
    device_release_early(early->memory);
    *early = (struct early){0};
}
