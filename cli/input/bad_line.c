/* SPDX-License-Identifier: Apache-2.0 */
#include "bad_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TOKEN_SHOWN = 40 };

/* The token without what could be an order to a terminal; cut off if it is long. */
static void show_token(const struct line_error *error, char shown[4 * TOKEN_SHOWN + 4]) {
    for (size_t i = 0; i < error->token_length && i < TOKEN_SHOWN; i++) {
        const unsigned char byte = (unsigned char)error->token[i];
        const bool control = byte < ' ' || byte == 0x7f;
        shown += sprintf(shown, control ? "\\x%02x" : "%c", byte);
    }
    strcpy(shown, error->token_length > TOKEN_SHOWN ? "..." : "");
}

static void describe_number(const struct line_format *format, const struct line_error *error, char *reason,
                            size_t size) {
    char token[4 * TOKEN_SHOWN + 4];
    show_token(error, token);
    const topk_type type = error->condition != NULL ? TOPK_F64 : format->type;
    const bool sizes = format->sizes && error->condition == NULL;
    switch (error->number) {
    case NUMBER_RANGE:
        snprintf(reason, size, "%s is out of the range of %s", token,
                 type == TOPK_F64   ? "float64"
                 : type == TOPK_I64 ? "int64"
                                    : "uint64");
        break;
    case NUMBER_COMMA:
        if (format->point == ',')
            snprintf(reason, size, "'%s' has a point, but --decimal says that decimals have a comma", token);
        else
            snprintf(reason, size, "'%s' has a comma, but decimals need a point (%s)%s", token,
                     sizes ? "LC_ALL=C" : "LC_ALL=C, or --decimal ,",
                     sizes || format->delimiter >= 0 ? "" : "; fields need --csv");
        break;
    default:
        snprintf(reason, size, "'%s' is not %s", token,
                 sizes              ? "a size"
                 : type == TOPK_F64 ? "a number"
                                    : "a decimal integer, as --dtype asks for");
    }
}

static void describe_condition(const struct line_error *error, char *reason, size_t size) {
    const size_t length = strlen(reason);
    if (error->condition != NULL)
        snprintf(reason + length, size - length, ", which --if '%.80s' compares", error->condition->text);
}

void bad_line_describe(const struct line_format *format, const struct line_error *error, char *reason,
                       size_t size) {
    switch (error->kind) {
    case LINE_BLANK:
        snprintf(reason, size, "blank line");
        break;
    case LINE_UNCLOSED:
        snprintf(reason, size, "a quote is not closed");
        break;
    case LINE_NO_FIELD:
        snprintf(reason, size, "line has no field %" PRId64,
                 error->condition != NULL ? error->condition->field : format->field);
        break;
    case LINE_EXTRA_FIELDS:
        snprintf(reason, size, "line holds more than a number; choose with --field");
        break;
    default:
        describe_number(format, error, reason, size);
    }
    describe_condition(error, reason, size);
}
