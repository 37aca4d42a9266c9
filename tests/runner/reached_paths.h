/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_REACHED_PATHS_H
#define TESTS_REACHED_PATHS_H

/* Prints how often the library's rare paths were taken and returns how many never were: 0 with a
 * library that does not count them. */
long reached_paths_missing(void);

#endif
