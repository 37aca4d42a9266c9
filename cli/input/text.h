/* SPDX-License-Identifier: Apache-2.0
 *
 * Text, from a file or a pipe, in chunks of whole lines. While several threads parse a chunk, the caller's
 * reads the bytes of the next one, and then helps. */
#ifndef TOPK_CLI_TEXT_H
#define TOPK_CLI_TEXT_H

#include "../base/team.h"
#include "../options/options.h"
#include "../parse/parse.h"
#include "blocks.h"
#include "ranges.h"

/* A line whose number is beyond float64. */
struct text_beyond {
    int64_t line; /* of the chunk */
    struct beyond number;
};

/* Lines that begin in one block. Threads parse parts side by side. Each takes it that the part's first line
 * begins behind the first byte of the block that may end one. That is wrong if it is within quotes; then the
 * part is parsed again. */
struct text_part {
    size_t stop;                     /* the next part's lines may begin here */
    struct line_cursor from;         /* its first line, and the slot of that line */
    struct line_cursor to;           /* behind its last line */
    int64_t invalid_count;           /* of its lines: slots are in text->invalid, from place from.count on */
    int64_t beyond_count;            /* of these, the ones that hold a number beyond float64 */
    int64_t filtered_count;          /* of these, the ones that do not meet the conditions */
    struct line_error first_invalid; /* of the others */
    size_t first_invalid_slot;
    struct line_error fatal; /* of the line at `to`; LINE_OK: there is none */
};

struct text {
    const char *name; /* of the file at hand, for messages */
    const struct options *options;
    struct text_range *ranges; /* what is read, in their order */
    int64_t range_count;
    int64_t range;         /* which is read */
    int64_t range_base;    /* the line of the input that is its first */
    int64_t header_passed; /* lines of the range's file that came before that one, but other ranks' */
    struct line_format format;
    int64_t by; /* --by: the field whose values make groups */
    struct condition
        conditions[CONDITIONS_MAX]; /* as the options have them, with fields of the file at hand */
    char *header;                   /* --column: the lines of the first file's header, with their ends */
    size_t header_length;           /* of these bytes */
    bool has_column;                /* some header has named it */
    uint64_t size;                  /* of all files; 0: not known */
    struct input_bytes bytes;
    bool is_last;       /* nothing comes behind the bytes at hand */
    size_t usual_bytes; /* to read ahead */

    struct team team;
    int threads; /* that the team shall have */
    bool has_team;
    struct text_part *parts; /* of the chunk */
    int part_count;

    /* The current chunk: `count` lines. The first is line `base` of the input, from 0. Line i is
     * lines[starts[i]] to lines[starts[i + 1]], its end included. Valid until the next chunk. */
    const char *lines;
    size_t lines_end; /* behind the last byte that may end a line */
    int64_t base;
    int64_t count;
    int64_t room; /* for lines */
    union number *values;
    size_t *starts;
    unsigned char *met; /* whether a line meets the conditions; NULL: there are none */

    /* The chunk's lines that hold no element, in order. They count as lines, and their values are 0. */
    int64_t *invalid; /* NULL: such a line ends the tool */
    int64_t invalid_count;
    struct text_beyond *beyond; /* the ones that hold a number all the same */
    int64_t beyond_count;
    int64_t beyond_room;

    /* The others, of all chunks. */
    int64_t invalid_total;
    int64_t first_invalid; /* its number in the file, from 1 */
    int64_t first_invalid_range;
    const char *first_invalid_name; /* the file */
    char reason[256];               /* why that one is invalid */
};

/* Lines [begin, end) of a chunk, which all hold numbers. {0}: before the first one. */
struct run {
    int64_t begin;
    int64_t end;
    int64_t passed; /* invalid lines before `begin` */
};

/* Opens the input. One thread parses it, unless text_share() says otherwise. */
void text_open(struct text *text, const struct options *options);

/* Reads only part `part` of `parts` of the bytes, where lines begin. Nothing may have been read. */
void text_take_part(struct text *text, int part, int parts);

/* Has `threads` threads parse, from the first chunk that is worth it. No chunk may have been read. */
void text_share(struct text *text, int threads);

/* Reads the next chunk; false at the end. Ends the tool at a bad line, naming it, unless it skips such lines.
 */
bool text_next(struct text *text);

/* A line of the chunk, by its index in the input, without its end. */
const char *text_line(const struct text *text, int64_t index, size_t *length);

/* The next run of valid lines of the chunk, as long as can be; false at its end. */
bool text_run(const struct text *text, struct run *run);

/* Moves the values of the chunk's valid lines, and whether they meet the conditions, to the front. Returns
 * how many they are. */
int64_t text_compact(struct text *text);

/* Says how many lines were skipped. */
void text_say_skipped(const struct text *text);

void text_close(struct text *text);

#endif /* TOPK_CLI_TEXT_H */
