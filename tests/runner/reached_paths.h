/* SPDX-License-Identifier: Apache-2.0
 *
 * How often the library's rare paths were taken; nothing with a library that does not count them. */
#ifndef TESTS_REACHED_PATHS_H
#define TESTS_REACHED_PATHS_H

/* Adds this process's counts. */
void reached_paths_read(unsigned long *counts, int most);

/* How many paths have names that begin with "BACKEND RUN:", or "BACKEND:" without a run. A run with a colon,
 * such as "route: another row", names those that go on like this. */
long reached_paths_of(const char *backend, const char *run);

/* Prints the counts of these, and returns how many were never taken. */
long reached_paths_missing(const unsigned long *counts, const char *backend, const char *run);

#endif
