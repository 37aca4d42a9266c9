/* SPDX-License-Identifier: Apache-2.0
 *
 * Results on standard output: tab-separated lines, or one JSON document
 *
 *   {"command": C, "input": PATH, "type": T, "k": K, "results": [R, ...], "length": N}
 *
 * with "k" for select and kth alone, and "rows" before "length" for a matrix. A result R is
 * {"row": r, "index": i, "value": v, "text": t}, with "row" for a matrix and "text" for text input alone;
 * of a flat array "index" is followed by "position": [i, j, ...], the index along each axis.
 * kth has "better" and "equal" in place of "index" and "text"; count has "count", and mask "match", alone.
 * Where kth was asked for several places or for percentages, "k" is the list of them, in each result the one
 * that it answers; of quantiles "quantile" is, as strings. Values that are not finite are strings. */
#ifndef TOPK_CLI_REPORT_H
#define TOPK_CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../options/options.h"
#include "../parse/parse.h"

struct report {
    bool json;
    bool matrix;
    bool zero_terminated; /* lines of text input are printed with NUL for an end */
    bool whole_lines;     /* text input with fields: its lines are printed without their index */
    bool comma;           /* is the point, but in JSON */
    bool any;             /* a result has been printed */
    bool names_places;    /* results in JSON say which place they answer for */
    topk_type type;
    const struct layout *flat; /* whose axes give each element a position in JSON; NULL: no position */
};

void report_begin(struct report *report, const struct options *options, const char *command, topk_type type,
                  bool matrix);

/* Elements get their positions in an array, which must outlive the report. */
void report_positions(struct report *report, const struct layout *flat);

/* An element; the row is ignored for a vector. */
void report_element(struct report *report, int64_t row, int64_t index, const void *value);

/* A line of text input, without its end, that holds an element, or a number beyond float64 unless that is
 * NULL. */
void report_line(struct report *report, int64_t index, const void *value, const struct beyond *beyond,
                 const char *line, size_t length);

/* An answer of kth: an element, a number beyond float64, or what lies between two elements. */
enum { ANSWER_DECIMAL_BYTES = 64 };
struct place_answer {
    const struct place_asked *asked;
    const void *value;                  /* an element; NULL: it lies between two */
    const struct beyond *beyond;        /* printed in the element's place; NULL: none */
    bool between;                       /* of floats: `mean` counts */
    double mean;                        /* of floats */
    char decimal[ANSWER_DECIMAL_BYTES]; /* of integers, exactly */
    int64_t better, equal;
};
void report_place(struct report *report, int64_t row, const struct place_answer *answer);

/* A result that is one integer, by its name in JSON. */
void report_integer(struct report *report, int64_t row, const char *name, int64_t integer);

/* Ends the document, and writes out what is buffered. */
void report_end(struct report *report, int64_t rows, int64_t length);

#endif /* TOPK_CLI_REPORT_H */
