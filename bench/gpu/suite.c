/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/suite.h"

#include "gpu/report.h"

int bench_gpu_suite(bench_gpu_session *session, const bench_point *points, int count, FILE *csv) {
    bench_gpu_report report = {.table = stdout, .csv = csv};
    bench_gpu_report_begin(&report, session);
    int done = 0;
    while (done < count && !session->lost) {
        bench_gpu_run(session, &points[done++], bench_gpu_report_add, &report);
    }
    if (session->lost) {
        fprintf(report.table, "the device is lost: the last %d points were not run\n", count - done);
    }
    bench_gpu_report_end(&report);
    return report.outcomes[BENCH_GPU_WRONG] + (count - done);
}
