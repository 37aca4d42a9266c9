/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers between two guards, and the memory of the CPU. */
#define _GNU_SOURCE /* madvise */
#include "points/outputs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    large_page_bytes = 1 << 21,
    line_bytes = 64,
    guard_bytes = 256,
    guard_byte = 0x3C,
    poison_byte = 0xA5
};

/* The rear guard begins right behind the contents. */
static size_t rear_bytes(const bench_buffer *buffer) {
    return guard_bytes + (size_t)(-buffer->bytes % guard_bytes);
}

static unsigned char *rear_of(const bench_buffer *buffer) {
    return (unsigned char *)buffer->data + buffer->bytes;
}

bool bench_buffer_make(const bench_memory *memory, bench_buffer *buffer, size_t bytes) {
    const size_t front = bytes >= memory->page_bytes ? memory->page_bytes : (size_t)guard_bytes;
    const size_t needed = front + (bytes + guard_bytes - 1) / guard_bytes * guard_bytes + guard_bytes;
    if (needed > buffer->room) {
        bench_buffer_free(buffer);
        void *base = memory->allocate(needed);
        if (base == NULL) {
            return false;
        }
        *buffer = (bench_buffer){.memory = memory, .base = base, .room = needed};
    }
    buffer->bytes = bytes;
    buffer->data = buffer->base + front;
    return memory->fill((unsigned char *)buffer->data - guard_bytes, guard_byte, guard_bytes) &&
           memory->fill(rear_of(buffer), guard_byte, rear_bytes(buffer));
}

void bench_buffer_free(bench_buffer *buffer) {
    if (buffer->base != NULL) {
        buffer->memory->release(buffer->base);
    }
    memset(buffer, 0, sizeof *buffer);
}

bool bench_buffer_poison(const bench_buffer *buffer) {
    return buffer->bytes == 0 || buffer->memory->fill(buffer->data, poison_byte, buffer->bytes);
}

static bool all_guard(const bench_memory *memory, const unsigned char *guard, size_t bytes) {
    unsigned char seen[2 * guard_bytes], right[2 * guard_bytes];
    memset(right, guard_byte, sizeof right);
    return memory->copy(seen, guard, bytes) && memcmp(seen, right, bytes) == 0;
}

bool bench_buffer_intact(const bench_buffer *buffer) {
    const unsigned char *data = buffer->data;
    return data == NULL || (all_guard(buffer->memory, data - guard_bytes, guard_bytes) &&
                            all_guard(buffer->memory, rear_of(buffer), rear_bytes(buffer)));
}

bool bench_guards_notice(const bench_memory *memory) {
    static const size_t sizes[] = {0, 1, 255, 256, 1000, 1 << 21};
    const unsigned char zero = 0;
    bool all = true;
    for (size_t i = 0; all && i < sizeof sizes / sizeof *sizes; ++i) {
        for (int behind = 0; all && behind < 2; ++behind) {
            bench_buffer buffer = {0};
            all = bench_buffer_make(memory, &buffer, sizes[i]) && bench_buffer_poison(&buffer) &&
                  bench_buffer_intact(&buffer);
            unsigned char *data = buffer.data;
            all = all && memory->copy(behind ? data + sizes[i] : data - 1, &zero, 1) &&
                  !bench_buffer_intact(&buffer);
            bench_buffer_free(&buffer);
        }
    }
    return all;
}

static void *allocate(size_t bytes) {
    const size_t alignment = bytes >= large_page_bytes ? (size_t)large_page_bytes : (size_t)line_bytes;
    const size_t rounded = (bytes / alignment + 1) * alignment;
    void *memory = aligned_alloc(alignment, rounded);
    if (memory != NULL && alignment == large_page_bytes) {
        /* Advice: where it is not taken, the pages are merely small. */
        (void)madvise(memory, rounded, MADV_HUGEPAGE);
    }
    return memory;
}

static bool fill(void *to, int byte, size_t bytes) {
    memset(to, byte, bytes);
    return true;
}

static bool copy(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    return true;
}

/* Large pages: what is to be measured is the memory, not the page tables. */
const bench_memory bench_host_memory = {large_page_bytes, allocate, free, fill, copy};
