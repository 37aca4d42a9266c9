/* SPDX-License-Identifier: Apache-2.0
 *
 * Conditions on fields of a line. */
#include <math.h>
#include <string.h>

#include "parse.h"

/* ---- As they are written --------------------------------------------------------------------- */

static bool is_space(char c) {
    return c == ' ' || c == '\t';
}

static void trim(const char **text, size_t *length) {
    for (; *length > 0 && is_space(**text); ++*text)
        --*length;
    while (*length > 0 && is_space((*text)[*length - 1]))
        --*length;
}

/* The comparison at `text`, and its length. */
static topk_predicate_kind comparison_at(const char *text, size_t *length) {
    const bool equal = text[0] != '\0' && text[1] == '=';
    *length = equal ? 2 : 1;
    switch (text[0]) {
    case '>':
        return equal ? TOPK_GE : TOPK_GT;
    case '<':
        return equal ? TOPK_LE : TOPK_LT;
    case '=':
        return TOPK_EQ;
    case '!':
        return equal ? TOPK_NE : TOPK_PREDICATE_UNDEFINED;
    default:
        return TOPK_PREDICATE_UNDEFINED;
    }
}

bool condition_parse(const char *text, struct condition *condition) {
    const char *at = text;
    size_t length = 0;
    *condition = (struct condition){.text = text, .name = text};
    while (*at != '\0' && (condition->kind = comparison_at(at, &length)) == TOPK_PREDICATE_UNDEFINED)
        at++;
    condition->name_length = (size_t)(at - text);
    trim(&condition->name, &condition->name_length);
    if (condition->kind == TOPK_PREDICATE_UNDEFINED || condition->name_length == 0)
        return false;
    condition->value = at + length;
    condition->value_length = strlen(condition->value);
    trim(&condition->value, &condition->value_length);
    return true;
}

/* A number as it is compared. */
struct written {
    double number;        /* the nearest float64 */
    struct beyond beyond; /* its text is NULL where that is the number */
};

static enum number_status read_number(char point, const char *text, size_t length, struct written *written) {
    union number number;
    const enum number_status status = number_parse_point(TOPK_F64, point, text, length, &number);
    *written = (struct written){.number = number.f64};
    if (status != NUMBER_RANGE && status != NUMBER_INEXACT)
        return status;
    written->beyond = beyond_of(text, length, number.f64);
    return NUMBER_OK;
}

bool condition_read_value(struct condition *condition, char point) {
    struct written written;
    condition->is_number =
        read_number(point, condition->value, condition->value_length, &written) == NUMBER_OK;
    if (!condition->is_number)
        return condition->kind == TOPK_EQ || condition->kind == TOPK_NE;
    condition->number = written.number;
    condition->beyond = written.beyond;
    return true;
}

/* ---- Of a line ------------------------------------------------------------------------------- */

/* Compares with the condition's number; neither is NaN. */
static int compare(const struct written *written, const struct condition *condition) {
    if (written->beyond.text != NULL && condition->beyond.text != NULL)
        return beyond_compare(&written->beyond, &condition->beyond, false);
    if (written->beyond.text != NULL)
        return beyond_compare_double(&written->beyond, condition->number, false);
    if (condition->beyond.text != NULL)
        return -beyond_compare_double(&condition->beyond, written->number, false);
    return (written->number > condition->number) - (written->number < condition->number);
}

static bool number_meets(const struct written *written, const struct condition *condition) {
    if ((written->beyond.text == NULL && isnan(written->number)) ||
        (condition->beyond.text == NULL && isnan(condition->number)))
        return condition->kind == TOPK_NE;
    const int order = compare(written, condition);
    switch (condition->kind) {
    case TOPK_GT:
        return order > 0;
    case TOPK_GE:
        return order >= 0;
    case TOPK_LT:
        return order < 0;
    case TOPK_LE:
        return order <= 0;
    case TOPK_EQ:
        return order == 0;
    default:
        return order != 0;
    }
}

/* A field that is no number equals none. */
static bool field_meets(const struct line_format *format, const struct condition *condition,
                        const char *field, size_t length, struct line_error *error) {
    const bool equality = condition->kind == TOPK_EQ || condition->kind == TOPK_NE;
    struct written written;
    if (!condition->is_number)
        return line_field_is(format, field, length, condition->value, condition->value_length) ==
               (condition->kind == TOPK_EQ);
    const enum number_status status = read_number(format->point, field, length, &written);
    if (status == NUMBER_OK)
        return number_meets(&written, condition);
    if (equality && status == NUMBER_SYNTAX)
        return condition->kind == TOPK_NE;
    error->kind = LINE_NUMBER;
    error->number = status;
    return false;
}

bool conditions_met(const struct line_format *format, const struct condition *conditions, int count,
                    const char *line, size_t line_length, struct line_error *error) {
    const size_t length = line_text_length(format, line, line_length);
    error->kind = LINE_OK;
    for (int i = 0; i < count; i++) {
        size_t field_length = 0;
        const char *field = line_field(format, conditions[i].field, line, length, &field_length);
        *error = (struct line_error){LINE_OK, NUMBER_OK, field, field_length, line_length, &conditions[i]};
        if (field == NULL)
            error->kind = LINE_NO_FIELD;
        else if (field_meets(format, &conditions[i], field, field_length, error))
            continue;
        return false;
    }
    return true;
}
