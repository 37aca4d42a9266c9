/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "parse.h"

static bool is_blank(const struct line_format *format, char c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || (c == '\n' && format->end != '\n');
}

/* ---- Eight bytes at a time ------------------------------------------------------------------- */

static const uint64_t ones = UINT64_C(0x0101010101010101);

/* The highest bit of each byte that is zero. Bytes above the first one may have it for no reason. */
static uint64_t zero_bytes(uint64_t word) {
    return (word - ones) & ~word & ones << 7;
}

static uint64_t load(const char *text) {
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

/* The first byte of the two kinds. end[-1] is one. */
static inline const char *find_either(const char *text, const char *end, char a, char b) {
    const uint64_t all_a = ones * (unsigned char)a, all_b = ones * (unsigned char)b;
    for (; end - text >= 8; text += 8) {
        const uint64_t word = load(text);
        const uint64_t hits = zero_bytes(word ^ all_a) | zero_bytes(word ^ all_b);
        if (hits != 0)
            return text + __builtin_ctzll(hits) / 8;
    }
    while (*text != a && *text != b)
        text++;
    return text;
}

/* The first byte that is a blank or ends a line. end[-1] is one. */
static inline const char *find_blank(const struct line_format *format, const char *text, const char *end) {
    for (;; text++) {
        for (; end - text >= 8; text += 8) {
            const uint64_t word = load(text);
            const uint64_t low = (word - ones * (' ' + 1)) & ~word & ones << 7; /* blanks and controls */
            if (low != 0) {
                text += __builtin_ctzll(low) / 8;
                break;
            }
        }
        if (*text == format->end || is_blank(format, *text))
            return text;
    }
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* The byte behind the closing quote of the field at `text`, or `text` if it is not quoted; NULL if nothing
 * closes it. */
static const char *skip_quoted(const struct line_format *format, const char *text, const char *end) {
    const char *quote = text;
    while (quote < end && is_blank(format, *quote) && *quote != (char)format->delimiter)
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
    const char *newline = memchr(text, format->end, (size_t)(end - text));
    if (!format->quotes || memchr(text, '"', (size_t)(newline - text)) == NULL)
        return newline;
    while ((text = skip_quoted(format, text, end)) != NULL) {
        text = find_either(text, end, format->end, (char)format->delimiter);
        if (*text == format->end)
            return text;
        text++;
    }
    return NULL;
}

size_t line_text_length(const struct line_format *format, const char *line, size_t length) {
    if (length > 0 && line[length - 1] == format->end)
        length--;
    if (length > 0 && format->end == '\n' && line[length - 1] == '\r')
        length--;
    return length;
}

const char *line_trim(const struct line_format *format, const char *line, size_t *length) {
    while (*length > 0 && is_blank(format, *line)) {
        line++;
        --*length;
    }
    while (*length > 0 && is_blank(format, line[*length - 1]))
        --*length;
    return line;
}

/* ---- The usual case -------------------------------------------------------------------------- */

/* Where the field behind the one at `text` begins; NULL if that cannot be said at once, or there is none. */
static inline const char *next_field(const struct line_format *format, const char *text, const char *end) {
    if (format->delimiter < 0) {
        while (is_blank(format, *text))
            text++;
        text = find_blank(format, text, end);
    } else {
        if (format->quotes && (*text == '"' || is_blank(format, *text)))
            text = skip_quoted(format, text, end);
        if (text == NULL)
            return NULL;
        text = find_either(text, end, (char)format->delimiter, format->end);
    }
    return *text == format->end ? NULL : text + 1;
}

/* Parses the number of the line at `text`; returns the line's end, or NULL when the line needs parse_line().
 * Nearly all lines end here. */
static inline const char *parse_short(const struct line_format *format, const char *text, const char *end,
                                      union number *value) {
    for (int64_t field = 1; field < format->field; field++)
        if ((text = next_field(format, text, end)) == NULL)
            return NULL;
    while (is_blank(format, *text) && *text != (char)format->delimiter)
        text++;
    const bool quoted = format->quotes && *text == '"';
    text += quoted;
    const char *after = format->sizes ? size_parse_short(text, &value->f64)
                                      : number_parse_short(format->type, format->point, text, value);
    if (after == NULL || (quoted && *after++ != '"'))
        return NULL;
    if (*after == format->end)
        return after;
    if (*after == '\r' && after[1] == '\n' && format->end == '\n')
        return after + 1;
    const bool separated =
        format->delimiter < 0 ? is_blank(format, *after) : *after == (char)format->delimiter;
    return format->field > 0 && separated ? line_newline(format, after + 1, end) : NULL;
}

/* Whether parse_short() may serve: it takes a byte of a number for no delimiter. */
static bool is_usual(const struct line_format *format) {
    return format->delimiter <= 0 || strchr("0123456789+-.eE\"kKMGTP", format->delimiter) == NULL;
}

/* ---- Any line -------------------------------------------------------------------------------- */

static void trim(const struct line_format *format, const char **token, const char **end) {
    size_t length = (size_t)(*end - *token);
    *token = line_trim(format, *token, &length);
    *end = *token + length;
}

static enum number_status parse_token(const struct line_format *format, const char *token, size_t length,
                                      union number *value) {
    if (format->sizes)
        return size_parse(token, length, &value->f64);
    const enum number_status status = number_parse_point(format->type, format->point, token, length, value);
    return status == NUMBER_INEXACT && format->rounds ? NUMBER_OK : status;
}

/* The end of the field at *token, which moves to behind the blanks before it where blanks separate fields. */
static const char *field_end(const struct line_format *format, const char **token, const char *end) {
    if (format->delimiter >= 0) {
        const char *behind = format->quotes ? skip_quoted(format, *token, end) : *token;
        const char *found = behind != NULL ? memchr(behind, format->delimiter, (size_t)(end - behind)) : NULL;
        return found != NULL ? found : end;
    }
    while (*token < end && is_blank(format, **token))
        ++*token;
    const char *blank = *token;
    while (blank < end && !is_blank(format, *blank))
        blank++;
    return blank;
}

/* Leaves a field's text without blanks and quotes around it. Returns whether it was quoted. */
static bool strip(const struct line_format *format, const char **token, const char **end) {
    trim(format, token, end);
    if (!format->quotes || *end - *token < 2 || **token != '"' || (*end)[-1] != '"')
        return false;
    ++*token;
    --*end;
    trim(format, token, end);
    return true;
}

const char *line_field(const struct line_format *format, int64_t field, const char *text, size_t length,
                       size_t *token_length) {
    const char *end = text + length;
    const char *token = text;
    const char *token_end;
    for (int64_t at = 1;; at++) {
        token_end = field_end(format, &token, end);
        if (format->delimiter < 0 && token == end && at > 1)
            return NULL;
        if (at == field)
            break;
        if (token_end == end)
            return NULL;
        token = token_end + 1;
    }
    strip(format, &token, &token_end);
    *token_length = (size_t)(token_end - token);
    return token;
}

/* Whether a field's text is `name`. Between quotes two quotes are one. */
static bool is_text(const char *field, size_t length, bool quoted, const char *name, size_t name_length) {
    const char *const end = field + length, *const name_end = name + name_length;
    for (; field < end && name < name_end && *field == *name; field++, name++)
        field += quoted && *field == '"' && field + 1 < end && field[1] == '"';
    return field == end && name == name_end;
}

bool line_field_is(const struct line_format *format, const char *field, size_t length, const char *text,
                   size_t text_length) {
    return is_text(field, length, format->quotes && memchr(field, '"', length) != NULL, text, text_length);
}

int64_t line_column(const struct line_format *format, const char *line, size_t length, const char *name,
                    size_t name_length) {
    const char *token = line;
    const char *const end = line + line_text_length(format, line, length);
    int64_t found = 0;
    for (int64_t field = 1;; field++) {
        const char *token_end = field_end(format, &token, end);
        const char *const behind = token_end;
        const bool quoted = strip(format, &token, &token_end);
        if (is_text(token, (size_t)(token_end - token), quoted, name, name_length)) {
            if (found > 0)
                return -1;
            found = field;
        }
        if (behind == end)
            return found;
        token = behind + 1;
    }
}

/* Parses any line; `length` includes its end. */
static bool parse_line(const struct line_format *format, const char *line, size_t line_length,
                       union number *value, struct line_error *error) {
    const size_t length = line_text_length(format, line, line_length);
    size_t token_length = 0, text_length = length;
    const char *token =
        line_field(format, format->field > 0 ? format->field : 1, line, length, &token_length);
    const char *text = line_trim(format, line, &text_length);
    *error = (struct line_error){LINE_OK, NUMBER_OK, token, token_length, line_length, NULL};
    if (text_length == 0)
        error->kind = LINE_BLANK;
    else if (token == NULL)
        error->kind = LINE_NO_FIELD;
    else if (format->field == 0 && token + token_length < text + text_length)
        error->kind = LINE_EXTRA_FIELDS;
    else if ((error->number = parse_token(format, token, token_length, value)) != NUMBER_OK)
        error->kind = LINE_NUMBER;
    return error->kind == LINE_OK;
}

/* Whether text that is no number of the wanted kind is a finite decimal: 1e6 where integers are wanted, or -5
 * among sizes. */
static bool is_decimal(const char *text, size_t length) {
    union number number;
    const enum number_status status = number_parse(TOPK_F64, text, length, &number);
    return status == NUMBER_OK ? isfinite(number.f64) : status != NUMBER_SYNTAX;
}

bool line_has_number(const struct line_error *error) {
    return error->kind == LINE_NUMBER &&
           (error->number != NUMBER_SYNTAX || is_decimal(error->token, error->token_length));
}

void lines_parse(const struct line_format *format, const char *text, size_t stop, size_t length,
                 union number *values, size_t *starts, size_t capacity, struct line_cursor *cursor,
                 struct line_error *error) {
    const struct line_format copy = *format; /* so that nothing written can change it */
    const char *const end = text + length, *const last = text + (stop < length ? stop : length);
    const char *line = text + cursor->at;
    const bool usual = is_usual(format);
    size_t count = cursor->count;
    *error = (struct line_error){.kind = LINE_OK};
    for (; line < last && count < capacity; count++) {
        const char *newline = usual ? parse_short(&copy, line, end, &values[count]) : NULL;
        if (newline == NULL) {
            newline = line_newline(&copy, line, end);
            if (newline == NULL) {
                error->kind = LINE_UNCLOSED;
                break;
            }
            if (!parse_line(&copy, line, (size_t)(newline + 1 - line), &values[count], error))
                break;
        }
        starts[count] = (size_t)(line - text);
        line = newline + 1;
    }
    *cursor = (struct line_cursor){(size_t)(line - text), count};
}
