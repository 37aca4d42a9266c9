/* SPDX-License-Identifier: Apache-2.0
 *
 * How the texts of a grid become fields of a point. */
#ifndef BENCH_DIMENSIONS_H
#define BENCH_DIMENSIONS_H

#include "points/suites.h"

/* Sets one field of a point from a text such as "2^26", "n/100", "f32" or "any". False if the text
 * says nothing that the dimension knows. */
bool bench_point_set(bench_point *point, bench_dimension dimension, const char *text);

/* Reads a count, "1000", "2^26", "n" or "n/100", where n is the length of a row. */
bool bench_count_read(const char *text, int64_t n, int64_t *count);

/* Turns knobs such as "alpha=n/4+early_stop=0" into what topk_problem.tuning holds, with the numbers of rows
 * of n elements: "alpha=250,early_stop=0". False if the text cannot be read. */
enum { BENCH_SETTINGS_BYTES = 256 };
bool bench_settings_read(const char *text, int64_t n, char settings[BENCH_SETTINGS_BYTES]);

/* The texts of the two, by their numbers. */
extern const char *const bench_predicate_names[];
extern const char *const bench_wanted_names[];

#endif /* BENCH_DIMENSIONS_H */
