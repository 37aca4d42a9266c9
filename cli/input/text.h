/* SPDX-License-Identifier: Apache-2.0
 *
 * Text, from a file or a pipe, in chunks of whole lines. */
#ifndef TOPK_CLI_TEXT_H
#define TOPK_CLI_TEXT_H

#include "../options/options.h"
#include "../parse/parse.h"

struct text {
    const char *name; /* for messages */
    int fd;
    bool at_end; /* nothing more can be read */
    const struct options *options;
    int64_t header_passed; /* lines that came before line 0 */
    struct line_format format;
    uint64_t size;  /* of the file; 0: not known */
    uint64_t bytes; /* read so far */

    char *buffer;    /* [begin, filled) is not parsed yet */
    size_t capacity; /* of the buffer, less one byte for a last newline */
    size_t begin;
    size_t filled;

    /* The current chunk: `count` lines, of which the first is line `base` of the input, from 0. Line i is
     * lines[starts[i]] to lines[starts[i + 1]], its end included. Valid until the next chunk. */
    const char *lines;
    int64_t base;
    int64_t count;
    int64_t room;      /* for lines of this chunk */
    int64_t count_max; /* of all chunks */
    union number *values;
    uint32_t *starts;

    /* The chunk's lines that hold no number, in order. They count as lines, and their values are 0. */
    uint32_t *invalid; /* NULL: such a line ends the tool */
    int64_t invalid_count;
    int64_t invalid_total; /* of all chunks */
    int64_t first_invalid; /* its number in the file, from 1 */
    char reason[256];      /* why that one is invalid */
};

/* Lines [begin, end) of a chunk, all of which hold numbers. {0}: before the first one. */
struct run {
    int64_t begin;
    int64_t end;
    int64_t passed; /* invalid lines before `begin` */
};

/* Opens the input. Chunks grow with what has been read, to `lines_wanted` lines and more: so they stay few
 * where each takes time in proportion to these. */
void text_open(struct text *text, const struct options *options, int64_t lines_wanted);

/* Reads the next chunk; false at the end. Ends the tool at a bad line, naming it, unless it skips such lines.
 */
bool text_next(struct text *text);

/* A line of the chunk, by its index in the input, without its end. */
const char *text_line(const struct text *text, int64_t index, size_t *length);

/* The next run of valid lines of the chunk, as long as can be; false at its end. */
bool text_run(const struct text *text, struct run *run);

/* Moves the values of the chunk's valid lines to the front, and returns how many they are. */
int64_t text_compact(struct text *text);

/* Says how many lines were skipped. */
void text_close(struct text *text);

#endif /* TOPK_CLI_TEXT_H */
