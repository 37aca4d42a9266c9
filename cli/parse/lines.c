/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "parse.h"

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static const char *skip_blanks(const char *text) {
    while (is_blank(*text))
        text++;
    return text;
}

/* The newline that ends the line that `text` is in. */
static const char *line_newline(const char *text, const char *end) {
    return memchr(text, '\n', (size_t)(end - text));
}

size_t line_text_length(const char *line, size_t length) {
    if (length > 0 && line[length - 1] == '\n')
        length--;
    if (length > 0 && line[length - 1] == '\r')
        length--;
    return length;
}

/* Parses the number at the start of a field that begins at `text`; returns the line's newline, or NULL
 * when the line needs parse_line(). Nearly all lines end here. */
static const char *parse_short(const struct line_format *format, const char *text, const char *end,
                               union number *value) {
    const char *number = format->delimiter < 0 ? skip_blanks(text) : text;
    const char *after = number_parse_short(format->type, number, value);
    if (after == NULL || *after == '\n')
        return after;
    if (*after == '\r' && after[1] == '\n')
        return after + 1;
    bool separated = format->delimiter < 0 ? is_blank(*after) : *after == (char)format->delimiter;
    return format->field > 0 && separated ? line_newline(after, end) : NULL;
}

/* The field's token in text[0, length), a line without its end; NULL if the line has too few fields. */
static const char *find_field(const struct line_format *format, const char *text, size_t length,
                              size_t *token_length) {
    const char *end = text + length;
    int64_t field = format->field > 0 ? format->field : 1;
    const char *token = text;
    const char *token_end;
    for (int64_t at = 1;; at++) {
        if (format->delimiter < 0) {
            while (token < end && is_blank(*token))
                token++;
            if (token == end && at > 1)
                return NULL;
            for (token_end = token; token_end < end && !is_blank(*token_end);)
                token_end++;
        } else {
            token_end = memchr(token, format->delimiter, (size_t)(end - token));
            if (token_end == NULL)
                token_end = end;
        }
        if (at == field)
            break;
        if (token_end == end)
            return NULL;
        token = token_end + 1;
    }
    while (token < token_end && is_blank(*token))
        token++;
    while (token < token_end && is_blank(token_end[-1]))
        token_end--;
    *token_length = (size_t)(token_end - token);
    return token;
}

/* Parses any line; `length` is without its end. */
static bool parse_line(const struct line_format *format, const char *line, size_t length, union number *value,
                       struct line_error *error) {
    size_t token_length = 0;
    const char *token = find_field(format, line, length, &token_length);
    *error = (struct line_error){LINE_OK, NUMBER_OK, token, token_length};
    if (length > LINE_BYTES_MAX)
        error->kind = LINE_TOO_LONG;
    else if (skip_blanks(line) >= line + length)
        error->kind = LINE_BLANK;
    else if (token == NULL)
        error->kind = LINE_NO_FIELD;
    else if (format->field == 0 && skip_blanks(token + token_length) < line + length)
        error->kind = LINE_EXTRA_FIELDS;
    else if ((error->number = number_parse(format->type, token, token_length, value)) != NUMBER_OK)
        error->kind = LINE_NUMBER;
    return error->kind == LINE_OK;
}

size_t lines_parse(const struct line_format *format, const char *text, uint32_t length, union number *values,
                   uint32_t *starts, size_t capacity, struct line_error *error) {
    const char *end = text + length;
    const char *line = text;
    bool splits_numbers = format->delimiter > 0 && strchr("0123456789+-.eE", format->delimiter) != NULL;
    error->kind = LINE_OK;
    size_t count = 0;
    for (; line < end && count < capacity; count++) {
        const char *newline = NULL;
        if (format->field <= 1 && !splits_numbers)
            newline = parse_short(format, line, end, &values[count]);
        if (newline == NULL || newline - line > LINE_BYTES_MAX) {
            newline = line_newline(line, end);
            size_t line_length = line_text_length(line, (size_t)(newline + 1 - line));
            if (!parse_line(format, line, line_length, &values[count], error))
                break;
        }
        starts[count] = (uint32_t)(line - text);
        line = newline + 1;
    }
    starts[count] = (uint32_t)(line - text);
    return count;
}
