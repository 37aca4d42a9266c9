/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers between two inaccessible pages. The slack on both sides inside the pages is a red zone
 * filled with a known byte. A read or write into a page faults; a write into a red zone is found by
 * guarded_intact(). */
#ifndef TESTS_GUARDED_H
#define TESTS_GUARDED_H

#include <stdbool.h>
#include <stddef.h>

typedef struct guarded {
    void *data;
    size_t bytes;
    unsigned char *map; /* the first inaccessible page */
    size_t map_bytes;
} guarded;

enum { GUARDED_AT_END = -1 }; /* no slack behind the buffer: it ends where the second page begins */

/* `offset` bytes of slack before the buffer, or GUARDED_AT_END. Without it the buffer begins `offset`
 * bytes past a page boundary. Contents: the byte of the red zones. */
guarded guarded_allocate(size_t bytes, long offset);

void guarded_fill(guarded *buffer, unsigned char byte);

/* From now on a write into the buffer faults. */
void guarded_make_read_only(guarded *buffer);

/* False if a red zone was written to. */
bool guarded_intact(const guarded *buffer);

void guarded_free(guarded *buffer);

#endif
