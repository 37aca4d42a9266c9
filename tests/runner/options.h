/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_OPTIONS_H
#define TESTS_OPTIONS_H

#include <time.h>

#include "dimensions.h"

typedef struct options {
    const char *program;
    uint64_t seed;
    int64_t smallest, largest; /* row lengths in the list of sizes */
    int64_t elements;          /* rows are dropped from cases with more of them */
    const char *backend;       /* by name */
    int threads;
    bool full;            /* the product of type, data, size and k, not the covering array */
    long random_cases;    /* > 0: this many small random cases instead */
    int64_t k_above;      /* > 0: of random cases with more results of a row than this */
    const char *one_case; /* NULL, or the only case to run */
    const char *filter;   /* NULL, or levels that cases must have */
    const char *method;   /* NULL: all */
    const char *operation;
    const char *paths; /* NULL, or the run whose rare paths must be taken, in a library that counts them */
    bool own_paths;    /* those of each method that runs, also if the list is not whole */
    long cases_max;
    long
        by_position; /* of the cases with results by position, the others take any order but one in so many */
    bool no_ranks;   /* leaves out operations with several ranks, unless one is asked for */
    bool graphs;     /* calls are captured and launched as graphs */
    long schedules;  /* of the emulated GPU, for each call */
    uint64_t schedule; /* 0, or the seed of the first */
    long failures_max;
    time_t end;      /* 0, or the last second in which a case begins */
    long limit;      /* seconds that a call of a child may take */
    long jobs;       /* 0: this process runs the cases; else that many children do */
    long job, first; /* of a child: it takes the cases of these that come at `job` modulo `jobs`, from number
                        `first` on */
} options;

/* Exits after a message if the command line makes no sense. */
options options_parse(int argc, char **argv);

enum { RERUN_BYTES = 2 * CASE_TEXT_BYTES };

/* The command that reruns a call alone; `schedule` is its seed. */
const char *options_rerun(const options *o, const test_case *c, const char *operation, const char *method,
                          uint64_t schedule, char text[RERUN_BYTES]);

#endif
