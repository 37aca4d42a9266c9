/* SPDX-License-Identifier: Apache-2.0
 *
 * The way of elements to a GPU: a ring of slots, each with memory on the host and on the GPU. While one slot
 * is copied to the GPU or in use there, several threads fill the next one, since a GPU takes elements faster
 * than one thread copies them. */
#ifndef TOPK_CLI_SLOTS_H
#define TOPK_CLI_SLOTS_H

#include <stdint.h>

#include "../base/team.h"
#include "device.h"
#include "session.h"

struct slots {
    struct team team;
    uint64_t bytes;     /* of each slot */
    struct early early; /* memory of the first slots on the host, as far as it goes */
    /* Slots that the host began to fill, and how many of these were passed on. */
    int64_t filled, passed;
    struct slot {
        void *host;   /* NULL until it is first filled: meanwhile others are */
        void *device; /* as many bytes; NULL until its first upload: meanwhile it is filled */
        /* What it is filled with. */
        const struct matrix *input; /* the session's */
        const char *elements;
        uint64_t bytes;
        struct job job;
    } slots[DEVICE_SLOTS];
};

/* Slots of `bytes` each. They take the memory that the session made early. */
void slots_begin(struct slots *slots, struct session *session, uint64_t bytes);

/* Slots that may be filled and not passed on. */
enum { SLOTS_AHEAD = DEVICE_SLOTS - 1 };

/* Begins to fill the next slot with elements, which must stay until slots_upload() of this slot. */
void slots_fill(struct slots *slots, const void *elements, uint64_t bytes);

/* Copies the earliest slot that was filled to the GPU, and returns where it will be there for what is
 * enqueued from now on. slots_pass() must follow. */
const void *slots_upload(struct slots *slots);

/* The same, to memory of the caller's on the GPU. */
void slots_upload_to(struct slots *slots, void *device);

/* All work on the slot that was uploaded last is enqueued. */
void slots_pass(struct slots *slots);

void slots_end(struct slots *slots);

#endif /* TOPK_CLI_SLOTS_H */
