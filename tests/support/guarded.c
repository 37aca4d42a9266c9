/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "guarded.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, RED_ZONE = 0xc5 };

static void die(const char *what) {
    perror(what);
    abort();
}

guarded guarded_allocate(size_t bytes, long offset) {
    size_t front = offset == GUARDED_AT_END ? 0 : (size_t)offset;
    size_t inner = (bytes + front + PAGE - 1) / PAGE * PAGE;
    guarded buffer = {.bytes = bytes, .map_bytes = inner + 2 * PAGE};
    buffer.map = mmap(NULL, buffer.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer.map == MAP_FAILED ||
        (inner != 0 && mprotect(buffer.map + PAGE, inner, PROT_READ | PROT_WRITE) != 0)) {
        die("guarded_allocate");
    }
    buffer.data = buffer.map + PAGE + (offset == GUARDED_AT_END ? inner - bytes : front);
    memset(buffer.map + PAGE, RED_ZONE, inner);
    return buffer;
}

#pragma weak __asan_poison_memory_region
#pragma weak __asan_unpoison_memory_region
void __asan_poison_memory_region(const volatile void *address, size_t bytes);
void __asan_unpoison_memory_region(const volatile void *address, size_t bytes);

static void show_slack(const guarded *buffer) {
    if (__asan_unpoison_memory_region != NULL) {
        __asan_unpoison_memory_region(buffer->map, buffer->map_bytes);
    }
}

static void hide_slack(const guarded *buffer) {
    const unsigned char *data = buffer->data, *first = buffer->map + PAGE,
                        *last = buffer->map + buffer->map_bytes - PAGE;
    if (__asan_poison_memory_region != NULL) {
        __asan_poison_memory_region(first, (size_t)(data - first) - buffer->readable);
        __asan_poison_memory_region(data + buffer->bytes, (size_t)(last - data) - buffer->bytes);
    }
}

void guarded_hide_slack(guarded *buffer, bool input) {
    buffer->hidden = true;
    buffer->readable = input ? (uintptr_t)buffer->data % 16 : 0;
    hide_slack(buffer);
}

void guarded_fill(guarded *buffer, unsigned char byte) {
    memset(buffer->data, byte, buffer->bytes);
}

void guarded_make_read_only(const guarded *buffer) {
    if (buffer->map_bytes > 2 * PAGE &&
        mprotect(buffer->map + PAGE, buffer->map_bytes - 2 * PAGE, PROT_READ) != 0) {
        die("guarded_make_read_only");
    }
}

/* Each byte is the same as the one before it: memcmp is many times as fast as a loop over bytes. */
static bool all_red(const unsigned char *from, const unsigned char *to) {
    return from == to || (*from == RED_ZONE && memcmp(from, from + 1, (size_t)(to - from) - 1) == 0);
}

bool guarded_intact(const guarded *buffer) {
    const unsigned char *data = buffer->data;
    show_slack(buffer);
    const bool intact = all_red(buffer->map + PAGE, data) &&
                        all_red(data + buffer->bytes, buffer->map + buffer->map_bytes - PAGE);
    if (buffer->hidden) {
        hide_slack(buffer);
    }
    return intact;
}

void guarded_free(guarded *buffer) {
    if (buffer->map != NULL) {
        show_slack(buffer);
        if (munmap(buffer->map, buffer->map_bytes) != 0) {
            die("guarded_free");
        }
    }
    *buffer = (guarded){.map = NULL};
}
