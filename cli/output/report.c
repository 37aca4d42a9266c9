/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <string.h>

#include "element.h"
#include "output.h"

/* A number with its point as the input has it. Changes the text. */
static void print_number(const struct report *report, char *text, size_t length) {
    char *point = memchr(text, '.', length);
    if (point != NULL && report->comma)
        *point = ',';
    output_bytes(text, length);
}

static void print_value(const struct report *report, topk_type type, const void *value,
                        const struct beyond *beyond) {
    struct element_text text;
    if (beyond != NULL) { /* as it is written, which JSON may not take for a number */
        output_bytes("\"", report->json);
        output_bytes(beyond->text, beyond->length);
        output_bytes("\"", report->json);
        return;
    }
    element_format(type, value, &text);
    bool quoted = report->json && !element_is_finite(type, value);
    output_bytes("\"", quoted);
    print_number(report, text.text, text.length);
    output_bytes("\"", quoted);
}

/* A place as it was asked for, as JSON. */
static void print_asked(const struct place_asked *asked) {
    const bool quoted = asked->kind != PLACE_NUMBER;
    if (!quoted) {
        output_integer(asked->number);
        return;
    }
    output_string("\"");
    output_bytes(asked->text, asked->length);
    output_string("\"");
}

static const char *place_name(const struct place_asked *asked) {
    return asked->kind == PLACE_QUANTILE ? "\"quantile\": " : "\"k\": ";
}

static void print_places(const struct options *options) {
    output_string(place_name(options->places));
    output_string("[");
    for (int i = 0; i < options->place_count; i++) {
        output_string(i > 0 ? ", " : "");
        print_asked(&options->places[i]);
    }
    output_string("], ");
}

static void print_member(const char *name, int64_t value) {
    output_string(name);
    output_integer(value);
}

/* Begins a result: the row of a matrix, and all that JSON wants before it. */
static void begin_result(struct report *report, int64_t row) {
    if (report->json)
        output_string(report->any ? ",\n{" : "\n{");
    report->any = true;
    if (!report->matrix)
        return;
    output_string(report->json ? "\"row\": " : "");
    output_integer(row);
    output_string(report->json ? ", " : "\t");
}

void report_begin(struct report *report, const struct options *options, const char *command, topk_type type,
                  bool matrix) {
    *report = (struct report){
        .json = options->json,
        .matrix = matrix,
        .zero_terminated = options->zero_terminated,
        .comma = options_point(options) == ',' && !options->json,
        .whole_lines = options_fields(options),
        .names_places =
            options->place_count > 1 || (options->place_count == 1 && options->places->kind != PLACE_NUMBER),
        .type = type,
    };
    if (!report->json)
        return;
    output_string("{\"command\": \"");
    output_string(command);
    output_string("\", \"input\": ");
    output_json_string(options->path, strlen(options->path));
    output_string(", \"type\": \"");
    output_string(topk_type_name(type));
    output_string("\", ");
    if (report->names_places) {
        print_places(options);
    } else if (options->given_k >= 0) {
        print_member("\"k\": ", options->given_k);
        output_string(", ");
    }
    output_string("\"results\": [");
}

void report_positions(struct report *report, const struct layout *flat) {
    report->flat = flat;
}

static void print_position(const struct layout *flat, int64_t index) {
    int64_t position[DIMENSIONS_MAX];
    for (int axis = flat->dimensions - 1; axis >= 0; axis--) {
        position[axis] = index % flat->extents[axis];
        index /= flat->extents[axis];
    }
    output_string(", \"position\": [");
    for (int axis = 0; axis < flat->dimensions; axis++) {
        output_string(axis > 0 ? ", " : "");
        output_integer(position[axis]);
    }
    output_string("]");
}

void report_element(struct report *report, int64_t row, int64_t index, const void *value) {
    begin_result(report, row);
    output_string(report->json ? "\"index\": " : "");
    output_integer(index);
    if (report->json && report->flat != NULL)
        print_position(report->flat, index);
    output_string(report->json ? ", \"value\": " : "\t");
    print_value(report, report->type, value, NULL);
    output_string(report->json ? "}" : "\n");
}

void report_line(struct report *report, int64_t index, const void *value, const struct beyond *beyond,
                 const char *line, size_t length) {
    if (!report->whole_lines) {
        const struct line_format format = {.end = report->zero_terminated ? '\0' : '\n'};
        line = line_trim(&format, line, &length);
    }
    begin_result(report, 0);
    if (report->json) {
        print_member("\"index\": ", index);
        output_string(", \"value\": ");
        print_value(report, report->type, value, beyond);
        output_string(", \"text\": ");
        output_json_string(line, length);
        output_string("}");
        return;
    }
    if (!report->whole_lines) {
        output_integer(index);
        output_string("\t");
    }
    output_bytes(line, length);
    output_bytes(report->zero_terminated ? "" : "\n", 1);
}

void report_place(struct report *report, int64_t row, const struct place_answer *answer) {
    begin_result(report, row);
    if (report->json && report->names_places) {
        output_string(place_name(answer->asked));
        print_asked(answer->asked);
        output_string(", ");
    }
    output_string(report->json ? "\"value\": " : "");
    if (answer->between) {
        print_value(report, TOPK_F64, &answer->mean, NULL);
    } else if (answer->value == NULL) {
        char decimal[ANSWER_DECIMAL_BYTES];
        strcpy(decimal, answer->decimal);
        print_number(report, decimal, strlen(decimal));
    } else {
        print_value(report, report->type, answer->value, answer->beyond);
    }
    print_member(report->json ? ", \"better\": " : "\t", answer->better);
    print_member(report->json ? ", \"equal\": " : "\t", answer->equal);
    output_string(report->json ? "}" : "\n");
}

void report_integer(struct report *report, int64_t row, const char *name, int64_t integer) {
    begin_result(report, row);
    if (report->json) {
        output_string("\"");
        output_string(name);
        output_string("\": ");
    }
    output_integer(integer);
    output_string(report->json ? "}" : "\n");
}

void report_end(struct report *report, int64_t rows, int64_t length) {
    if (report->json) {
        output_string("\n], ");
        if (report->matrix) {
            print_member("\"rows\": ", rows);
            output_string(", ");
        }
        print_member("\"length\": ", length);
        output_string("}\n");
    }
    output_flush();
}
