/* SPDX-License-Identifier: Apache-2.0
 *
 * Results as a table for people and as CSV for scripts. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "measure/device.h"

#include <stdio.h>

typedef struct bench_report {
    FILE *table;
    FILE *csv; /* NULL: none */
    int lines;
    int outcomes[BENCH_OUTCOMES]; /* how many lines of each */
    int invalid;                  /* right, but void */
} bench_report;

/* What the whole run is about. */
void bench_report_begin(bench_report *report, const bench_session *session);

/* A bench_sink; `state` is a bench_report. */
void bench_report_add(void *state, const bench_session *session, const bench_result *result);

void bench_report_end(bench_report *report);

/* Writes the columns that say which point it is, as CSV, with a header above the first. */
void bench_report_point(FILE *out, const bench_point *point, bool first);

#endif /* BENCH_REPORT_H */
