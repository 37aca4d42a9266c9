/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of a GPU as a table for people and as CSV for scripts. */
#ifndef BENCH_GPU_REPORT_H
#define BENCH_GPU_REPORT_H

#include "gpu/gpu.h"

#include <stdio.h>

typedef struct bench_gpu_report {
    FILE *table;
    FILE *csv; /* NULL: none */
    int lines;
    int outcomes[BENCH_GPU_SKIPPED + 1]; /* how many lines of each */
    int invalid;                         /* right, but void */
} bench_gpu_report;

void bench_gpu_report_begin(bench_gpu_report *report, const bench_gpu_session *session);

/* A bench_gpu_sink; `state` is a bench_gpu_report. */
void bench_gpu_report_add(void *state, const bench_gpu_session *session, const bench_gpu_result *result);

void bench_gpu_report_end(bench_gpu_report *report);

#endif /* BENCH_GPU_REPORT_H */
