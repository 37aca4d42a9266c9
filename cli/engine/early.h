/* SPDX-License-Identifier: Apache-2.0
 *
 * Pinned memory for slots, made by a thread of its own while the device and the library start. Either takes
 * long, and neither waits for the other. */
#ifndef TOPK_CLI_EARLY_H
#define TOPK_CLI_EARLY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct early {
    uint64_t bytes; /* 0: there is no memory */
    void *memory;   /* the thread's, until early_wait() returns */
    int ordinal;
    pthread_t thread;
    bool runs; /* the thread was started and nobody has waited for it */
};

/* Begins to make memory for the slots through which the streamed bytes go; for 0, none. The struct
 * must stay where it is until early_wait() returns. */
void early_begin(struct early *early, int ordinal, uint64_t streamed_bytes);

/* Waits for the memory. There is none if it cannot be had: who needs it says so. */
void early_wait(struct early *early);

/* Releases the memory. */
void early_end(struct early *early);

#endif /* TOPK_CLI_EARLY_H */
