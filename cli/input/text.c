/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/fail.h"

enum {
    CHUNK_LINES = 1 << 17,     /* enough to make the library's cost per call vanish */
    CHUNK_LINES_MAX = 1 << 24, /* keeps offsets within a buffer in 32 bits */
    LINE_BYTES_USUAL = 16,
};

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static void reserve(struct text *text, int64_t lines) {
    text->room = lines;
    text->capacity = (size_t)lines * LINE_BYTES_USUAL + LINE_BYTES_MAX;
    text->buffer = reallocate(text->buffer, text->capacity + 1, 1);
    text->values = reallocate(text->values, (uint64_t)lines, sizeof *text->values);
    text->starts = reallocate(text->starts, (uint64_t)lines + 1, sizeof *text->starts);
}

void text_open(struct text *text, const struct options *options, int64_t lines_wanted) {
    *text = (struct text){.name = options->name, .fd = options->descriptor};
    struct stat status;
    if (fstat(text->fd, &status) != 0)
        fail("%s: %s", text->name, strerror(errno));
    if (S_ISREG(status.st_mode))
        text->size = (uint64_t)status.st_size;
    bool fields = options->field > 0 || options->delimiter >= 0;
    text->format = (struct line_format){
        .type = options->dtype == TOPK_TYPE_UNDEFINED ? TOPK_F64 : options->dtype,
        .field = !fields              ? 0
                 : options->field > 0 ? options->field
                                      : 1,
        .delimiter = options->delimiter,
    };
    text->count_max = lines_wanted < CHUNK_LINES ? CHUNK_LINES : least(lines_wanted, CHUNK_LINES_MAX);
    reserve(text, CHUNK_LINES);
    memcpy(text->buffer, options->head, options->head_bytes);
    text->filled = options->head_bytes;
}

/* Fills the buffer, with what it still holds at its front. */
static void fill(struct text *text) {
    memmove(text->buffer, text->buffer + text->begin, text->filled - text->begin);
    text->filled -= text->begin;
    text->begin = 0;
    while (!text->at_end && text->filled < text->capacity) {
        ssize_t got = read(text->fd, text->buffer + text->filled, text->capacity - text->filled);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fail("%s: %s", text->name, strerror(errno));
        text->at_end = got == 0;
        text->filled += (size_t)got;
        text->bytes += (uint64_t)got;
    }
    if (text->at_end && text->filled > 0 && text->buffer[text->filled - 1] != '\n')
        text->buffer[text->filled++] = '\n';
}

static _Noreturn void fail_number(const struct text *text, int64_t line, const struct line_error *error) {
    enum { SHOWN = 40 };
    int length = (int)(error->token_length < SHOWN ? error->token_length : SHOWN);
    const char *more = error->token_length > SHOWN ? "..." : "";
    const char *kind = text->format.type == TOPK_F64   ? "float64"
                       : text->format.type == TOPK_I64 ? "int64"
                                                       : "uint64";
    union number number;
    switch (error->number) {
    case NUMBER_RANGE:
        fail("%s:%" PRId64 ": %.*s%s is beyond %s", text->name, line, length, error->token, more, kind);
    case NUMBER_INEXACT:
        for (topk_type type = TOPK_I64; type <= TOPK_U64; type += TOPK_U64 - TOPK_I64)
            if (number_parse(type, error->token, error->token_length, &number) == NUMBER_OK)
                fail("%s:%" PRId64 ": integer %.*s is not exact in float64; use --dtype %s", text->name, line,
                     length, error->token, type == TOPK_I64 ? "int64" : "uint64");
        fail("%s:%" PRId64 ": integer %.*s%s is not exact in float64, and beyond --dtype int64 and uint64",
             text->name, line, length, error->token, more);
    default:
        fail("%s:%" PRId64 ": '%.*s%s' is not %s", text->name, line, length, error->token, more,
             text->format.type == TOPK_F64 ? "a number" : "a decimal integer, as --dtype asks for");
    }
}

static _Noreturn void fail_line(const struct text *text, int64_t line, const struct line_error *error) {
    switch (error->kind) {
    case LINE_BLANK:
        fail("%s:%" PRId64 ": blank line", text->name, line);
    case LINE_TOO_LONG:
        fail("%s:%" PRId64 ": line is longer than %d bytes", text->name, line, LINE_BYTES_MAX);
    case LINE_NO_FIELD:
        fail("%s:%" PRId64 ": line has no field %" PRId64, text->name, line, text->format.field);
    case LINE_EXTRA_FIELDS:
        fail("%s:%" PRId64 ": line holds more than a number; choose with --field", text->name, line);
    default:
        fail_number(text, line, error);
    }
}

bool text_next(struct text *text) {
    text->base += text->count;
    text->count = 0;
    if (text->base >= text->room && text->room < text->count_max)
        reserve(text, least(2 * text->room, text->count_max));
    char *newline = NULL;
    if (text->filled > text->begin)
        newline = memrchr(text->buffer + text->begin, '\n', text->filled - text->begin);
    if (newline == NULL || text->filled - text->begin < text->capacity / 2) {
        fill(text);
        if (text->filled == 0)
            return false;
        newline = memrchr(text->buffer, '\n', text->filled);
    }
    if (newline == NULL)
        fail_line(text, text->base + 1, &(struct line_error){.kind = LINE_TOO_LONG});
    struct line_error error;
    text->lines = text->buffer + text->begin;
    uint32_t length = (uint32_t)(newline + 1 - text->lines);
    text->count = (int64_t)lines_parse(&text->format, text->lines, length, text->values, text->starts,
                                       (size_t)text->room, &error);
    if (error.kind != LINE_OK)
        fail_line(text, text->base + text->count + 1, &error);
    text->begin += text->starts[text->count];
    return true;
}

void text_close(struct text *text) {
    if (text->fd != STDIN_FILENO)
        close(text->fd);
    release(text->buffer);
    release(text->values);
    release(text->starts);
}
