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

/* The byte behind the closing quote of the field at `text`, or `text` if it is not quoted; NULL if nothing
 * closes it. */
static const char *skip_quoted(const struct line_format *format, const char *text, const char *end) {
    const char *quote = text;
    while (quote < end && is_blank(*quote) && *quote != (char)format->delimiter)
        quote++;
    if (quote == end || *quote != '"')
        return text;
    do {
        quote = memchr(quote + 1, '"', (size_t)(end - quote - 1));
        if (quote == NULL)
            return NULL;
        quote++;
    } while (quote < end && *quote == '"');
    return quote;
}

const char *line_newline(const struct line_format *format, const char *text, const char *end) {
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    if (!format->quotes || memchr(text, '"', (size_t)(newline - text)) == NULL)
        return newline;
    while ((text = skip_quoted(format, text, end)) != NULL) {
        while (*text != '\n' && *text != (char)format->delimiter)
            text++;
        if (*text == '\n')
            return text;
        text++;
    }
    return NULL;
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
    return format->field > 0 && separated ? line_newline(format, after + 1, end) : NULL;
}

static void trim(const char **token, const char **end) {
    while (*token < *end && is_blank(**token))
        (*token)++;
    while (*token < *end && is_blank((*end)[-1]))
        (*end)--;
}

static enum number_status parse_token(const struct line_format *format, const char *token, size_t length,
                                      union number *value) {
    return format->sizes ? size_parse(token, length, &value->f64)
                         : number_parse(format->type, token, length, value);
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
            const char *behind = format->quotes ? skip_quoted(format, token, end) : token;
            token_end = memchr(behind, format->delimiter, (size_t)(end - behind));
            if (token_end == NULL)
                token_end = end;
        }
        if (at == field)
            break;
        if (token_end == end)
            return NULL;
        token = token_end + 1;
    }
    trim(&token, &token_end);
    if (format->quotes && token_end - token > 1 && *token == '"' && token_end[-1] == '"') {
        token++;
        token_end--;
        trim(&token, &token_end);
    }
    *token_length = (size_t)(token_end - token);
    return token;
}

/* Parses any line; `length` includes its end. */
static bool parse_line(const struct line_format *format, const char *line, size_t line_length,
                       union number *value, struct line_error *error) {
    size_t length = line_text_length(line, line_length);
    size_t token_length = 0;
    const char *token = find_field(format, line, length, &token_length);
    *error = (struct line_error){LINE_OK, NUMBER_OK, token, token_length, line_length};
    if (length > LINE_BYTES_MAX)
        error->kind = LINE_TOO_LONG;
    else if (skip_blanks(line) >= line + length)
        error->kind = LINE_BLANK;
    else if (token == NULL)
        error->kind = LINE_NO_FIELD;
    else if (format->field == 0 && skip_blanks(token + token_length) < line + length)
        error->kind = LINE_EXTRA_FIELDS;
    else if ((error->number = parse_token(format, token, token_length, value)) != NUMBER_OK)
        error->kind = LINE_NUMBER;
    return error->kind == LINE_OK;
}

bool line_has_number(const struct line_error *error) {
    return error->kind == LINE_NUMBER && error->number != NUMBER_SYNTAX;
}

size_t lines_parse(const struct line_format *format, const char *text, uint32_t length, union number *values,
                   uint32_t *starts, size_t count, size_t capacity, struct line_error *error) {
    const char *end = text + length;
    const char *line = text + starts[count];
    bool splits_numbers = format->delimiter > 0 && strchr("0123456789+-.eE", format->delimiter) != NULL;
    bool is_short = format->field <= 1 && !splits_numbers && !format->sizes;
    error->kind = LINE_OK;
    for (; line < end && count < capacity; count++) {
        const char *newline = NULL;
        if (is_short)
            newline = parse_short(format, line, end, &values[count]);
        if (newline == NULL || newline - line > LINE_BYTES_MAX) {
            newline = line_newline(format, line, end);
            if (newline == NULL) {
                error->kind = LINE_UNCLOSED;
                break;
            }
            if (!parse_line(format, line, (size_t)(newline + 1 - line), &values[count], error))
                break;
        }
        starts[count] = (uint32_t)(line - text);
        line = newline + 1;
    }
    starts[count] = (uint32_t)(line - text);
    return count;
}
