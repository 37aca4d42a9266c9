/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu.h"

#include "check/self_test.h"
#include "report.h"

#include <string.h>

int bench_cpu_suite(bench_session *session, const bench_point *points, int count, FILE *csv) {
    int failed = 0;
    bench_report report = {stdout, csv, 0};
    bench_report_begin(&report, session);
    for (int i = 0; i < count; ++i) {
        failed += !bench_run(session, &points[i], bench_report_add, &report);
    }
    fprintf(report.table, "%d points, %d wrong\n", count, failed);
    return failed;
}

/* What is to be seen of the first result of a point. */
static void note(void *state, const bench_session *session, const bench_result *result) {
    (void)session;
    bench_verdict *seen = state;
    seen->correct = result->correct;
    seen->timed = result->times.subject_s > 0;
    memcpy(seen->reason, result->reason, sizeof seen->reason);
}

static void run_trial(void *state, const bench_point *point, bench_spoil *spoil, bench_verdict *seen) {
    bench_session *session = state;
    session->tamper = spoil;
    bench_run(session, point, note, seen);
    session->tamper = NULL;
}

bool bench_cpu_self_test(bench_session *session) {
    const char *deaf = bench_read_self_test();
    printf("%-5s every read kernel reads every byte%s%s\n", deaf == NULL ? "ok" : "FAIL",
           deaf == NULL ? "" : ", but for ", deaf == NULL ? "" : deaf);
    return bench_self_test("cpu", run_trial, session) && deaf == NULL;
}
