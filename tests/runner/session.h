/* SPDX-License-Identifier: Apache-2.0
 *
 * One process's part of a run: its cases, with all operations and methods. */
#ifndef TESTS_SESSION_H
#define TESTS_SESSION_H

#include <stdatomic.h>

#include "backends.h"
#include "options.h"

enum { REACHED_MOST = 256 };

/* What a session has done so far. It may lie in memory that another process reads. */
typedef struct tally {
    long cases, failures;
    long served[METHODS_MOST], refused[METHODS_MOST];
    unsigned long reached[REACHED_MOST]; /* rare paths of the library, in a build that counts them */
    long position;                       /* number of the case in the list */
    char current[RERUN_BYTES];           /* the call in progress */
    int under_way;                       /* calls that the device may be at work on */
    atomic_ulong steps;                  /* grows while something gets done */
    bool is_late;                        /* there were more cases, but the time was over */
    bool ended;
} tally;

/* Runs the cases that the options name; false if they name none. */
bool session_run(const options *o, const backend *b, tally *t);

#endif
