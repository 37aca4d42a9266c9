/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of the CPU. */
#define _GNU_SOURCE /* madvise */
#include "points/outputs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { large_page_bytes = 1 << 21, line_bytes = 64, guard_bytes = 64, guard_byte = 0x3C, poison_byte = 0xA5 };

void *bench_allocate(size_t bytes) {
    const size_t alignment = bytes >= large_page_bytes ? (size_t)large_page_bytes : (size_t)line_bytes;
    const size_t rounded = (bytes / alignment + 1) * alignment;
    void *memory = aligned_alloc(alignment, rounded);
    if (memory != NULL && alignment == large_page_bytes) {
        /* Advice: where it is not taken, the pages are merely small. */
        (void)madvise(memory, rounded, MADV_HUGEPAGE);
    }
    return memory;
}

/* Buffers lie between two guards, whose bytes nobody may change, and are aligned to large pages if they are
 * large. */
static bool make_memory(bench_buffer *buffer, size_t bytes) {
    if (buffer->base == NULL || bytes > buffer->room) {
        const size_t front = bytes >= large_page_bytes ? (size_t)large_page_bytes : (size_t)guard_bytes;
        free(buffer->base);
        *buffer = (bench_buffer){.base = bench_allocate(front + bytes + guard_bytes), .room = bytes};
        if (buffer->base == NULL) {
            return false;
        }
        buffer->data = buffer->base + front;
        memset(buffer->base + front - guard_bytes, guard_byte, guard_bytes);
    }
    buffer->bytes = bytes;
    memset((unsigned char *)buffer->data + bytes, guard_byte, guard_bytes);
    return true;
}

static void free_memory(bench_buffer *buffer) {
    free(buffer->base);
    memset(buffer, 0, sizeof *buffer);
}

static bool poison_memory(const bench_buffer *buffer, topk_stream stream) {
    (void)stream;
    memset(buffer->data, poison_byte, buffer->bytes);
    return true;
}

static bool is_intact(const bench_buffer *buffer, topk_stream stream) {
    (void)stream;
    unsigned char guard[guard_bytes];
    const unsigned char *data = buffer->data;
    memset(guard, guard_byte, sizeof guard);
    return data == NULL || (memcmp(data - guard_bytes, guard, sizeof guard) == 0 &&
                            memcmp(data + buffer->bytes, guard, sizeof guard) == 0);
}

static bool copy_memory(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    return true;
}

const bench_memory bench_host_memory = {make_memory, free_memory, poison_memory, is_intact, copy_memory};
