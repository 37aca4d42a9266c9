/* SPDX-License-Identifier: Apache-2.0
 *
 * Suites: named sets of points. A suite is a list of grids. A grid is a text such as "select n=2^20,2^26
 * k=32": an operation, then a comma-separated list for some dimensions. It stands for the product of all
 * lists. Two words are no dimensions: "points=FILE" names a CSV file whose lines complete the grid, each to a
 * grid of its own, and "fixed=yes" says that only how the points are solved may be chosen, not what they are.
 */
#ifndef BENCH_SUITES_H
#define BENCH_SUITES_H

#include "points/point.h"

typedef struct bench_grid {
    const char *devices; /* "cpu", "cuda", or both */
    const char *suite;
    const char *words; /* see above */
} bench_grid;

extern const bench_grid bench_grids[];
extern const int bench_grid_count;

/* What is asked for: lists of `words` take the place of those of a grid, and `file`, unless it is NULL, that
 * of the grid's file. */
typedef struct bench_request {
    const char *device, *suite, *words, *file;
} bench_request;

/* The points of a suite, each once, without combinations of distribution and type that make no sense. Returns
 * their number, with *points to be freed by the caller, or -1 with a sentence in `error`. */
int bench_suite_points(const bench_request *request, bench_point **points, char *error, size_t error_bytes);

#endif /* BENCH_SUITES_H */
