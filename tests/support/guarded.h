/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers between two inaccessible pages. The slack on both sides inside the pages is a red zone
 * filled with a known byte. A read or write into a page faults; a write into a red zone is found by
 * guarded_intact(), and under AddressSanitizer at once, if guarded_hide_slack() was called. */
#ifndef TESTS_GUARDED_H
#define TESTS_GUARDED_H

#include <stdbool.h>
#include <stddef.h>

typedef struct guarded {
    void *data;
    size_t bytes;
    unsigned char *map; /* the first inaccessible page */
    size_t map_bytes;
    bool hidden;     /* by guarded_hide_slack() */
    size_t readable; /* bytes before the buffer that it left open */
} guarded;

enum { GUARDED_AT_END = -1 }; /* no slack behind the buffer: it ends where the second page begins */

/* `offset` bytes of slack before the buffer, or GUARDED_AT_END. Without it the buffer begins `offset`
 * bytes past a page boundary. Contents: the byte of the red zones. */
guarded guarded_allocate(size_t bytes, long offset);

void guarded_fill(guarded *buffer, unsigned char byte);

/* In a program with AddressSanitizer, any access to a red zone by code that it watches is an error from now
 * on; elsewhere nothing changes. Of an input the rest of its first aligned 16 bytes may be read
 * (CONTRACT.md, 5.4). */
void guarded_hide_slack(guarded *buffer, bool input);

/* From now on a write into the buffer faults. */
void guarded_make_read_only(const guarded *buffer);

/* False if a red zone was written to. */
bool guarded_intact(const guarded *buffer);

void guarded_free(guarded *buffer);

#endif
