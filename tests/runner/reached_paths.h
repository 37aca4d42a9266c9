/* SPDX-License-Identifier: Apache-2.0
 *
 * How often the library's rare paths were taken; nothing with a library that does not count them. */
#ifndef TESTS_REACHED_PATHS_H
#define TESTS_REACHED_PATHS_H

/* Adds this process's counts. */
void reached_paths_read(unsigned long *counts, int most);

/* Prints the counts of the paths whose names begin with "BACKEND RUN:", or "BACKEND:" without a run, and
 * returns how many were never taken. */
long reached_paths_missing(const unsigned long *counts, const char *backend, const char *run);

#endif
