/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_OPTIONS_H
#define TESTS_OPTIONS_H

#include "dimensions.h"

typedef struct options {
    uint64_t seed;
    int64_t largest; /* row length that the list of sizes goes up to */
    int threads;
    bool full;            /* the product of type, data, size and k, not the covering array */
    long random_cases;    /* > 0: this many small random cases instead */
    const char *one_case; /* NULL, or the only case to run */
    const char *filter;   /* NULL, or levels that cases must have */
    const char *method;   /* NULL: all */
    const char *operation;
    long failures_max;
} options;

/* Exits after a message if the command line makes no sense. */
options options_parse(int argc, char **argv);

/* The command that reruns a case alone. */
void options_print_rerun(const options *o, const char *program, const char *case_text, const char *operation,
                         const char *method);

#endif
