/* SPDX-License-Identifier: Apache-2.0 */
#include "blocks.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/fail.h"

/* Few lines are longer. Others make more room. */
enum { ROOM_USUAL = 1 << 16 };

/* So much is not worth a question whether there is room for it. */
enum { UNASKED_BYTES = 1 << 26 };

void bytes_go_on(struct input_bytes *bytes, const char *name, int fd, uint64_t left, bool has_mark) {
    bytes->name = name;
    bytes->fd = fd;
    bytes->left = left;
    bytes->begun = bytes->at_end = false;
    bytes->has_mark = has_mark;
}

void bytes_begin(struct input_bytes *bytes, const char *name, int fd, uint64_t left, char line_end,
                 const void *head, size_t head_bytes) {
    *bytes = (struct input_bytes){.line_end = line_end};
    bytes_go_on(bytes, name, fd, left, true);
    for (int i = 0; i < 2; i++) {
        struct blocks *blocks = &bytes->sets[i];
        blocks->room = blocks->capacity = blocks->begin = blocks->end = ROOM_USUAL;
        blocks->buffer = allocate(blocks->capacity + 1, 1);
    }
    struct blocks *first = &bytes->sets[0];
    first->begin -= head_bytes;
    memcpy(first->buffer + first->begin, head, head_bytes);
    first->has_nul = memchr(head, '\0', head_bytes) != NULL;
}

void bytes_end(struct input_bytes *bytes) {
    for (int i = 0; i < 2; i++)
        release(bytes->sets[i].buffer);
}

static void reserve(struct blocks *blocks, size_t capacity) {
    if (capacity <= blocks->capacity)
        return;
    if (capacity > UNASKED_BYTES)
        require_memory(capacity, 1, "the bytes of a line");
    blocks->capacity = capacity;
    blocks->buffer = reallocate(blocks->buffer, capacity + 1, 1);
}

/* Reads up to `size` bytes behind what the blocks hold. */
static size_t read_some(struct input_bytes *bytes, struct blocks *blocks, size_t size) {
    size_t filled = 0;
    if (size > bytes->left)
        size = (size_t)bytes->left;
    while (filled < size && !bytes->at_end) {
        const ssize_t got = read(bytes->fd, blocks->buffer + blocks->end + filled, size - filled);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fail("%s: %s", bytes->name, strerror(errno));
        bytes->at_end = got == 0;
        filled += (size_t)got;
    }
    blocks->end += filled;
    bytes->total += filled;
    if (bytes->left != UINT64_MAX)
        bytes->left -= filled;
    bytes->at_end |= bytes->left == 0;
    return filled;
}

/* Groups are so small that a byte counts them, which lets the compiler use vectors of bytes. */
static int64_t count_bytes(const char *bytes, size_t size, char wanted) {
    enum { GROUP = 240 };
    int64_t count = 0;
    for (; size >= GROUP; bytes += GROUP, size -= GROUP) {
        uint8_t found = 0;
        for (int i = 0; i < GROUP; i++)
            found = (uint8_t)(found + (bytes[i] == wanted));
        count += found;
    }
    for (size_t i = 0; i < size; i++)
        count += bytes[i] == wanted;
    return count;
}

void bytes_read_ahead(struct input_bytes *bytes, size_t wanted) {
    struct blocks *blocks = &bytes->sets[bytes->current ^ 1];
    blocks->begin = blocks->end = blocks->room;
    blocks->has_nul = false;
    blocks->count = 0;
    blocks->block_bytes =
        wanted <= (size_t)BLOCKS_MAX * BLOCK_BYTES ? BLOCK_BYTES : (wanted + BLOCKS_MAX - 1) / BLOCKS_MAX;
    reserve(blocks, blocks->room + wanted);
    for (size_t left = wanted; left > 0 && !bytes->at_end;) {
        const char *block = blocks->buffer + blocks->end;
        const size_t got = read_some(bytes, blocks, left < blocks->block_bytes ? left : blocks->block_bytes);
        blocks->ends[blocks->count++] = count_bytes(block, got, bytes->line_end);
        blocks->has_nul |= memchr(block, '\0', got) != NULL;
        left -= got;
    }
}

/* Makes room for `size` bytes in front of the blocks. */
static void make_room(struct blocks *blocks, size_t size) {
    if (size <= blocks->room)
        return;
    const size_t more = size - blocks->room, held = blocks->end - blocks->begin;
    reserve(blocks, blocks->capacity + more);
    memmove(blocks->buffer + size, blocks->buffer + blocks->room, held);
    blocks->room = blocks->begin = size;
    blocks->end = size + held;
}

size_t byte_order_mark(const char *text, size_t size) {
    return size >= MARK_BYTES && memcmp(text, "\xef\xbb\xbf", MARK_BYTES) == 0 ? MARK_BYTES : 0;
}

struct blocks *bytes_next(struct input_bytes *bytes) {
    struct blocks *old = &bytes->sets[bytes->current], *new = &bytes->sets[bytes->current ^ 1];
    const size_t rest = old->end - old->begin;
    make_room(new, rest);
    new->begin -= rest;
    memcpy(new->buffer + new->begin, old->buffer + old->begin, rest);
    new->front_ends = count_bytes(new->buffer + new->begin, rest, bytes->line_end);
    new->has_nul |= old->has_nul &&memchr(new->buffer + new->begin, '\0', rest) != NULL;
    old->begin = old->end = old->room;
    bytes->current ^= 1;
    if (!bytes->begun && bytes->has_mark)
        new->begin += byte_order_mark(new->buffer + new->begin, new->end - new->begin);
    bytes->begun = true;
    if (new->begin == new->end)
        return NULL;
    if (bytes->at_end && new->buffer[new->end - 1] != bytes->line_end)
        new->buffer[new->end++] = bytes->line_end;
    return new;
}
