/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes of a text, read ahead in blocks. There are two sets of blocks: one is in use, and the next bytes
 * are read into the other. */
#ifndef TOPK_CLI_BLOCKS_H
#define TOPK_CLI_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BLOCKS_MAX = 32, BLOCK_BYTES = 1 << 18 };

/* The blocks lie one behind the other. What was left of earlier bytes is in front of them. */
struct blocks {
    char *buffer;
    size_t capacity; /* of the buffer, without one byte for the end of a last line */
    size_t room;     /* for what is in front: where the first block begins */
    size_t begin;    /* [begin, end) is not used up yet */
    size_t end;
    size_t block_bytes;       /* of each, but the last one */
    int count;                /* of blocks */
    int64_t ends[BLOCKS_MAX]; /* bytes of each block that may end a line */
    int64_t front_ends;       /* those in front of the blocks */
    bool has_nul;             /* some byte is NUL */
};

struct input_bytes {
    const char *name; /* for messages */
    int fd;
    char line_end;
    uint64_t left;  /* bytes that may still be read; UINT64_MAX: all there are */
    bool begun;     /* the first bytes have come */
    bool at_end;    /* nothing more can be read */
    bool has_mark;  /* a byte-order mark may come first */
    uint64_t total; /* bytes read so far */
    struct blocks sets[2];
    int current;
};

/* The input begins with `head`, and goes on with what can be read, `left` bytes at most. */
void bytes_begin(struct input_bytes *bytes, const char *name, int fd, uint64_t left, char line_end,
                 const void *head, size_t head_bytes);

/* Goes on with other bytes, once there are no more of those before; `total` counts both. A byte-order mark is
 * passed over if it `has_mark` there. */
void bytes_go_on(struct input_bytes *bytes, const char *name, int fd, uint64_t left, bool has_mark);

/* Reads `wanted` bytes, or up to the end, for bytes_next(), into BLOCKS_MAX blocks at most. */
void bytes_read_ahead(struct input_bytes *bytes, size_t wanted);

/* Goes on to the bytes that were read ahead. What is left of the ones before comes in front of them. The last
 * line of the input is given an end. NULL: there are no more bytes. */
struct blocks *bytes_next(struct input_bytes *bytes);

void bytes_end(struct input_bytes *bytes);

/* The length of the byte-order mark of UTF-8 that text begins with; 0 if it has none. */
enum { MARK_BYTES = 3 };
size_t byte_order_mark(const char *text, size_t size);

#endif /* TOPK_CLI_BLOCKS_H */
