/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of text, against a plain reading of the rules: line by line, field by field, without the fast
 * case. The first four bytes of the input choose the format, and where the parse stops on its way. */
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"
#include "parse/parse.h"

struct slice {
    const char *at;
    size_t length;
};

static bool is_blank(const struct line_format *format, char c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || (c == '\n' && format->end == '\0');
}

static struct slice trim(const struct line_format *format, struct slice slice) {
    while (slice.length > 0 && is_blank(format, *slice.at))
        slice = (struct slice){slice.at + 1, slice.length - 1};
    while (slice.length > 0 && is_blank(format, slice.at[slice.length - 1]))
        slice.length--;
    return slice;
}

/* The end of a field, which a delimiter or a newline ends, byte by byte; NULL if a quote is open. */
static const char *field_end(const struct line_format *format, const char *at, const char *end) {
    bool begun = false;
    bool quoted = false;
    for (; at < end; at++) {
        if (format->quotes && *at == '"' && quoted && at + 1 < end && at[1] == '"')
            at++;
        else if (format->quotes && *at == '"' && (quoted || !begun))
            quoted = !quoted;
        else if (!quoted && (*at == (char)format->delimiter || *at == format->end))
            return at;
        begun = begun || !is_blank(format, *at);
    }
    return quoted ? NULL : end;
}

static const char *find_newline(const struct line_format *format, const char *at, const char *end) {
    if (!format->quotes)
        return memchr(at, format->end, (size_t)(end - at));
    while ((at = field_end(format, at, end)) != NULL && *at != format->end)
        at++;
    return at;
}

/* Takes the first field off *rest; the rest of the last one has a NULL pointer. */
static struct slice take_field(struct slice *rest, const struct line_format *format) {
    struct slice line = format->delimiter < 0 ? trim(format, *rest) : *rest;
    size_t end = 0;
    if (format->delimiter >= 0)
        end = (size_t)(field_end(format, line.at, line.at + line.length) - line.at);
    while (format->delimiter < 0 && end < line.length && !is_blank(format, line.at[end]))
        end++;
    *rest = end < line.length ? (struct slice){line.at + end + 1, line.length - end - 1}
                              : (struct slice){NULL, 0};
    return trim(format, (struct slice){line.at, end});
}

static int expected_kind(const struct line_format *format, struct slice line, union number *value) {
    if (trim(format, line).length == 0)
        return LINE_BLANK;
    struct slice rest = line;
    struct slice field = take_field(&rest, format);
    for (int64_t i = 1; i < format->field; i++) {
        if (rest.at == NULL)
            return LINE_NO_FIELD;
        field = take_field(&rest, format);
    }
    if (format->field == 0 && rest.at != NULL && trim(format, rest).length > 0)
        return LINE_EXTRA_FIELDS;
    if (format->quotes && field.length > 1 && field.at[0] == '"' && field.at[field.length - 1] == '"')
        field = trim(format, (struct slice){field.at + 1, field.length - 2});
    enum number_status status =
        format->sizes ? size_parse(field.at, field.length, &value->f64)
                      : number_parse_point(format->type, format->point, field.at, field.length, value);
    const bool rounded = status == NUMBER_INEXACT && format->rounds && !format->sizes;
    return status == NUMBER_OK || rounded ? LINE_OK : LINE_NUMBER;
}

static void check(const struct line_format *format, const char *text, size_t stop, size_t length) {
    enum { CAPACITY = 64 };
    union number values[CAPACITY];
    size_t starts[CAPACITY + 1];
    struct line_error error;
    struct line_cursor cursor = {.at = 0};
    lines_parse(format, text, stop, length, values, starts, CAPACITY, &cursor, &error);
    if (error.kind == LINE_OK) {
        demand(cursor.at >= stop || cursor.at == length || cursor.count == CAPACITY);
        demand(cursor.count == 0 || starts[cursor.count - 1] < stop);
        lines_parse(format, text, length, length, values, starts, CAPACITY, &cursor, &error);
    }
    const size_t count = cursor.count;
    starts[count] = cursor.at;
    const char *at = text;
    for (size_t line = 0;; line++) {
        demand(starts[line] == (size_t)(at - text));
        if (line == CAPACITY || at == text + length) {
            demand(count == line && error.kind == LINE_OK);
            return;
        }
        const char *newline = find_newline(format, at, text + length);
        if (newline == NULL) {
            demand(count == line && error.kind == LINE_UNCLOSED);
            return;
        }
        size_t line_length = (size_t)(newline - at);
        line_length -= line_length > 0 && format->end == '\n' && at[line_length - 1] == '\r';
        union number value;
        int kind = expected_kind(format, (struct slice){at, line_length}, &value);
        if (kind != LINE_OK) {
            demand(count == line && (int)error.kind == kind);
            demand(error.line_length == (size_t)(newline + 1 - at));
            return;
        }
        demand(line < count && memcmp(&value, &values[line], sizeof value) == 0);
        demand(line_text_length(format, at, (size_t)(newline + 1 - at)) == line_length);
        at = newline + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const topk_type types[] = {TOPK_F64, TOPK_I64, TOPK_U64};
    enum { CHOICES = 4 };
    if (size <= CHOICES)
        return 0;
    struct line_format format = {.type = types[data[0] % 3], .field = data[1] % 4, .delimiter = -1};
    format.end = (data[1] & 0x20) != 0 ? '\0' : '\n';
    format.rounds = format.type == TOPK_F64 && (data[1] & 0x10) != 0;
    if (data[2] != '\n' && data[2] != '\r' && data[2] >= '\t' && format.field > 0)
        format.delimiter = data[2];
    format.point = (data[0] & 0x80) != 0 && format.delimiter != ',' ? ',' : '.';
    format.quotes = format.delimiter >= 0 && (data[1] & 0x40) != 0;
    format.sizes = format.type == TOPK_F64 && (data[1] & 0x80) != 0;
    size_t length = size - CHOICES;
    char *text = malloc(length + 1);
    demand(text != NULL);
    memcpy(text, data + CHOICES, length);
    if (text[length - 1] != format.end)
        text[length++] = format.end;
    check(&format, text, data[3], length);
    free(text);
    return 0;
}
