/* SPDX-License-Identifier: Apache-2.0
 *
 * The way of elements to a GPU: two slots, each with memory on the host and on the GPU. While the GPU works
 * on one slot, the other one is filled and copied. */
#ifndef TOPK_CLI_SLOTS_H
#define TOPK_CLI_SLOTS_H

#include <stdint.h>

#include "device.h"

struct slots {
    void *host[DEVICE_SLOTS];   /* NULL: there are no slots */
    void *device[DEVICE_SLOTS]; /* as many bytes */
    int next;
};

/* Slots of `bytes` each. */
void slots_begin(struct slots *slots, uint64_t bytes);

/* Copies elements to the next slot and returns where they will be on the GPU for what is enqueued from now
 * on. They may be reused at once. */
const void *slots_upload(struct slots *slots, const void *elements, uint64_t bytes);

/* All work on the slot that was filled last is enqueued. */
void slots_pass(struct slots *slots);

void slots_end(struct slots *slots);

#endif /* TOPK_CLI_SLOTS_H */
