/* SPDX-License-Identifier: Apache-2.0
 *
 * The dimensions of a point: each is an option of the command line and a word of a grid.
 *
 * Suites: named sets of points. A suite is a list of grids. A grid is a text such as "select n=2^20,2^26
 * k=32": an operation, then a comma-separated list for some dimensions. It stands for the product of all
 * lists. Two words are no dimensions: "points=FILE" names a CSV file whose lines complete the grid, each to a
 * grid of its own, and "fixed=yes" says that only how the points are solved may be chosen, not what they are.
 */
#ifndef BENCH_SUITES_H
#define BENCH_SUITES_H

#include "points/point.h"

/* Those from BENCH_HOW on say how a point is solved, those before it what it is. */
enum { BENCH_HOW = 11, BENCH_DIMENSIONS = 21 };

typedef struct bench_dimension {
    const char *name;
    const char *usual; /* where a grid says nothing; a text is then empty */
    /* Sets the field of a point from a text. False: the dimension has no such value. */
    bool (*set)(const struct bench_dimension *self, bench_point *point, const char *text);
    size_t field;             /* where it is in a point */
    const char *const *names; /* by their numbers */
    int least, most;          /* of numbers; most: also the bytes of a text */
    const char *help;
} bench_dimension;

/* K comes after n, because a count of results may be written as a part of n. */
extern const bench_dimension bench_dimensions[BENCH_DIMENSIONS];

/* Texts of the fields of a point, by their numbers; NULL at the end. */
typedef const char *const bench_names[];
extern bench_names bench_operation_names, bench_predicate_names, bench_wanted_names, bench_direction_names,
    bench_lengths_names, bench_routing_names, bench_order_names, bench_ties_names, bench_index_names;

/* The number of a text among the names; false if it is none of them. */
bool bench_choose(const char *text, const char *const *names, unsigned *number);

/* Turns knobs such as "alpha=n/4+early_stop=0" into what topk_problem.tuning holds, with the numbers of rows
 * of n elements: "alpha=250,early_stop=0". False if the text cannot be read. */
enum { BENCH_SETTINGS_BYTES = 256 };
bool bench_settings_read(const char *text, int64_t n, char settings[BENCH_SETTINGS_BYTES]);

typedef struct bench_grid {
    const char *devices; /* "cpu", "cuda", or both */
    const char *suite;
    const char *words; /* see above */
} bench_grid;

extern const bench_grid bench_grids[];
extern const int bench_grid_count;

/* What the command line asks for. A dimension in `words` overrides the grid's; so does `file`, unless it is
 * NULL. */
typedef struct bench_request {
    const char *device, *suite, *words, *file;
    const struct bench_source *source; /* files; NULL: points need none. What it lacks, no point has */
} bench_request;

/* The points of a suite, each once, without combinations of distribution and type that make no sense. Returns
 * their number, with *points to be freed by the caller, or -1 with a sentence in `error`. */
int bench_suite_points(const bench_request *request, bench_point **points, char *error, size_t error_bytes);

#endif /* BENCH_SUITES_H */
