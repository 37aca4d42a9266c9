/* SPDX-License-Identifier: Apache-2.0
 *
 * Suites: named sets of points. A suite is a list of grids; a grid has, for each dimension of a
 * point, a comma-separated list of texts, and stands for their product. */
#ifndef BENCH_SUITES_H
#define BENCH_SUITES_H

#include "points/point.h"

/* The dimensions of a grid, each also an option of the command line. K comes after N, because a
 * count of results may be written as a part of n. */
typedef enum bench_dimension {
    BENCH_TYPE,
    BENCH_DIST,
    BENCH_ROWS,
    BENCH_N,
    BENCH_K,
    BENCH_KEEP,
    BENCH_PREDICATE,
    BENCH_OUTPUTS,
    BENCH_DIRECTION,
    BENCH_ORDER,
    BENCH_TIES,
    BENCH_INDEX,
    BENCH_METHOD,
    BENCH_TUNING,
    BENCH_BLOCK,
    BENCH_DIMENSIONS
} bench_dimension;

/* Each has suites of its own; some names are those of both. */
typedef enum bench_device { BENCH_CPU, BENCH_CUDA } bench_device;

/* The points of a suite, each once. `overrides` has a list, or NULL, for each dimension, and takes the
 * place of the suite's own. Combinations of distribution and type that make no sense are left out.
 *
 * Returns the number of points, with *points to be freed by the caller; on a text that cannot be
 * read -1, with a sentence in `error`. */
int bench_suite_points(bench_device device, const char *suite, const char *const overrides[BENCH_DIMENSIONS],
                       bench_point **points, char *error, size_t error_bytes);

#endif /* BENCH_SUITES_H */
