/* SPDX-License-Identifier: Apache-2.0
 *
 * Results as a table for people and as CSV for scripts. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "measure/run.h"

#include <stdio.h>

typedef struct bench_report {
    FILE *table;
    FILE *csv; /* NULL: none */
    int lines;
} bench_report;

void bench_report_begin(bench_report *report, const bench_session *session);

/* A bench_sink; `state` is a bench_report. */
void bench_report_add(void *state, const bench_session *session, const bench_result *result);

#endif /* BENCH_REPORT_H */
