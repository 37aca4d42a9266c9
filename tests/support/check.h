/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks for tests that are plain programs: a failed check prints itself and the program goes on;
 * main() ends with `return check_report();`. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdio.h>

#include "topk.h"

/* Of the whole program: weak, so that its files share them. */
__attribute__((weak)) int check_count, check_failures;

enum { CHECK_SHOWN_MAX = 20 }; /* what goes wrong once often goes wrong everywhere */

static inline int check_report(void) {
    printf("%d checks, %d failed\n", check_count, check_failures);
    return check_failures != 0;
}

#define CHECK(condition) check_that(condition, #condition, __FILE__, __LINE__)
#define CHECK_STATUS(expected, call) check_status(expected, call, #call, __FILE__, __LINE__)

static inline int check_that(int holds, const char *text, const char *file, int line) {
    __atomic_add_fetch(&check_count, 1, __ATOMIC_RELAXED);
    if (!holds) {
        if (check_failures++ < CHECK_SHOWN_MAX) {
            fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
        }
    }
    return holds;
}

static inline int check_status(topk_status expected, topk_status got, const char *text, const char *file,
                               int line) {
    __atomic_add_fetch(&check_count, 1, __ATOMIC_RELAXED);
    if (got != expected) {
        check_failures++;
        fprintf(stderr, "%s:%d: %s\n    expected %s, got %s (%s)\n", file, line, text,
                topk_status_string(expected), topk_status_string(got),
                got == TOPK_OK ? "" : topk_last_error());
    }
    return got == expected;
}

#endif
