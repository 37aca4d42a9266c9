/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/fail.h"

enum {
    CHUNK_LINES = 1 << 17,     /* enough to make the library's cost per call vanish */
    CHUNK_LINES_MAX = 1 << 24, /* keeps offsets within a buffer in 32 bits */
    LINE_BYTES_USUAL = 16,
    TOKEN_SHOWN = 40,
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
    if (text->options->skip_invalid)
        text->invalid = reallocate(text->invalid, (uint64_t)lines, sizeof *text->invalid);
}

void text_open(struct text *text, const struct options *options, int64_t lines_wanted) {
    *text = (struct text){.name = options->name, .fd = options->descriptor, .options = options};
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
        .quotes = options->csv,
        .sizes = options->human,
    };
    text->count_max = lines_wanted < CHUNK_LINES ? CHUNK_LINES : least(lines_wanted, CHUNK_LINES_MAX);
    reserve(text, CHUNK_LINES);
    memcpy(text->buffer, options->head, options->head_bytes);
    text->filled = options->head_bytes;
}

/* Lines of what is no text would be passed over as invalid, or refused with words that lead astray. */
static void refuse_binary(const struct text *text) {
    const struct binary *binary = binary_in_text(text->buffer, text->filled);
    if (binary != NULL)
        fail("%s: holds binary data (%s): %s", text->name, binary->what, binary->advice);
}

/* Fills the buffer, with what it still holds at its front. A byte-order mark does not count. */
static void fill(struct text *text) {
    const bool first = text->bytes == 0;
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
    if (first)
        refuse_binary(text);
    if (first && text->filled >= 3 && memcmp(text->buffer, "\xef\xbb\xbf", 3) == 0)
        text->begin = 3;
    if (text->at_end && text->filled > text->begin && text->buffer[text->filled - 1] != '\n')
        text->buffer[text->filled++] = '\n';
}

/* ---- Bad lines ------------------------------------------------------------------------------- */

/* The token without what could be an order to a terminal; cut off if it is long. */
static void show_token(const struct line_error *error, char shown[4 * TOKEN_SHOWN + 4]) {
    for (size_t i = 0; i < error->token_length && i < TOKEN_SHOWN; i++) {
        const unsigned char byte = (unsigned char)error->token[i];
        const bool control = byte < ' ' || byte == 0x7f;
        shown += sprintf(shown, control ? "\\x%02x" : "%c", byte);
    }
    strcpy(shown, error->token_length > TOKEN_SHOWN ? "..." : "");
}

static void describe_number(const struct text *text, const struct line_error *error, char *reason,
                            size_t size) {
    char token[4 * TOKEN_SHOWN + 4];
    show_token(error, token);
    const topk_type type = text->format.type;
    union number number;
    switch (error->number) {
    case NUMBER_RANGE:
        snprintf(reason, size, "%s is out of the range of %s", token,
                 type == TOPK_F64   ? "float64"
                 : type == TOPK_I64 ? "int64"
                                    : "uint64");
        break;
    case NUMBER_INEXACT:
        snprintf(reason, size, "integer %s is not exact in float64%s", token,
                 number_parse(TOPK_I64, error->token, error->token_length, &number) == NUMBER_OK
                     ? "; use --dtype int64"
                 : number_parse(TOPK_U64, error->token, error->token_length, &number) == NUMBER_OK
                     ? "; use --dtype uint64"
                     : ", and beyond --dtype int64 and uint64");
        break;
    case NUMBER_COMMA:
        snprintf(reason, size, "'%s' has a comma, but decimals need a point (LC_ALL=C)%s", token,
                 text->format.sizes ? "" : "; fields need --csv");
        break;
    default:
        snprintf(reason, size, "'%s' is not %s", token,
                 text->format.sizes ? "a size"
                 : type == TOPK_F64 ? "a number"
                                    : "a decimal integer, as --dtype asks for");
    }
}

static void describe_line(const struct text *text, const struct line_error *error, char *reason,
                          size_t size) {
    switch (error->kind) {
    case LINE_BLANK:
        snprintf(reason, size, "blank line");
        break;
    case LINE_TOO_LONG:
        snprintf(reason, size, "line is longer than %d bytes", LINE_BYTES_MAX);
        break;
    case LINE_UNCLOSED:
        snprintf(reason, size, "a quote is not closed");
        break;
    case LINE_NO_FIELD:
        snprintf(reason, size, "line has no field %" PRId64, text->format.field);
        break;
    case LINE_EXTRA_FIELDS:
        snprintf(reason, size, "line holds more than a number; choose with --field");
        break;
    default:
        describe_number(text, error, reason, size);
    }
}

static _Noreturn void fail_line(const struct text *text, int64_t line, const struct line_error *error) {
    char reason[256];
    describe_line(text, error, reason, sizeof reason);
    fail("%s:%" PRId64 ": %s", text->name, line, reason);
}

/* Counts the line behind the chunk's lines as one of them. What has no end, or a late one, may be no text at
 * all: that is not passed over. Nor is a number. */
static void pass_over(struct text *text, const struct line_error *error) {
    const int64_t line = text->header_passed + text->base + text->count + 1;
    if (!text->options->skip_invalid || error->kind == LINE_TOO_LONG || error->kind == LINE_UNCLOSED ||
        line_has_number(error))
        fail_line(text, line, error);
    if (text->invalid_total++ == 0) {
        text->first_invalid = line;
        describe_line(text, error, text->reason, sizeof text->reason);
    }
    text->values[text->count].u64 = 0;
    text->invalid[text->invalid_count++] = (uint32_t)text->count;
    text->starts[text->count + 1] = text->starts[text->count] + (uint32_t)error->line_length;
    text->count++;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* Has the buffer begin with a whole line. Returns the last newline, or NULL at the end of the input. */
static const char *load(struct text *text) {
    const char *newline = memrchr(text->buffer + text->begin, '\n', text->filled - text->begin);
    if (!text->at_end && (newline == NULL || text->filled - text->begin < text->capacity / 2)) {
        fill(text);
        newline = memrchr(text->buffer + text->begin, '\n', text->filled - text->begin);
    }
    text->lines = text->buffer + text->begin;
    if (newline == NULL && text->filled > text->begin)
        fail_line(text, text->header_passed + text->base + 1, &(struct line_error){.kind = LINE_TOO_LONG});
    return newline;
}

static void pass_header(struct text *text) {
    for (const char *last; text->header_passed < text->options->header && (last = load(text)) != NULL;) {
        const char *newline = line_newline(&text->format, text->lines, last + 1);
        if (newline == NULL)
            fail_line(text, text->header_passed + 1, &(struct line_error){.kind = LINE_UNCLOSED});
        text->begin += (size_t)(newline + 1 - text->lines);
        text->header_passed++;
    }
}

bool text_next(struct text *text) {
    text->base += text->count;
    text->count = 0;
    text->invalid_count = 0;
    if (text->base >= text->room && text->room < text->count_max)
        reserve(text, least(2 * text->room, text->count_max));
    pass_header(text);
    const char *last = load(text);
    if (last == NULL)
        return false;
    const uint32_t length = (uint32_t)(last + 1 - text->lines);
    struct line_error error;
    text->starts[0] = 0;
    for (;;) {
        text->count = (int64_t)lines_parse(&text->format, text->lines, length, text->values, text->starts,
                                           (size_t)text->count, (size_t)text->room, &error);
        /* The rest of the last line may not have been read yet. */
        if (error.kind == LINE_OK || (error.kind == LINE_UNCLOSED && text->count > 0))
            break;
        pass_over(text, &error);
    }
    text->begin += text->starts[text->count];
    return true;
}

const char *text_line(const struct text *text, int64_t index, size_t *length) {
    const int64_t line = index - text->base;
    const char *begin = text->lines + text->starts[line];
    *length = line_text_length(begin, text->starts[line + 1] - text->starts[line]);
    return begin;
}

bool text_run(const struct text *text, struct run *run) {
    run->begin = run->end;
    for (; run->passed < text->invalid_count && text->invalid[run->passed] == run->begin; run->passed++)
        run->begin++;
    run->end = run->passed < text->invalid_count ? text->invalid[run->passed] : text->count;
    return run->begin < text->count;
}

int64_t text_compact(struct text *text) {
    int64_t count = 0;
    for (struct run run = {0}; text_run(text, &run); count += run.end - run.begin)
        memmove(text->values + count, text->values + run.begin,
                (size_t)(run.end - run.begin) * sizeof *text->values);
    return count;
}

void text_close(struct text *text) {
    if (text->invalid_total > 0 && !text->options->quiet)
        note("%s: invalid lines passed over: %" PRId64 "; the first is line %" PRId64 ": %s", text->name,
             text->invalid_total, text->first_invalid, text->reason);
    if (text->fd != STDIN_FILENO)
        close(text->fd);
    release(text->buffer);
    release(text->values);
    release(text->starts);
    release(text->invalid);
}
