/* SPDX-License-Identifier: Apache-2.0
 *
 * The benchmark on a GPU: one point from the data to the figures, all of it on the device. */
#ifndef BENCH_GPU_H
#define BENCH_GPU_H

#include "check/self_test.h"
#include "measure/statistics.h"
#include "points/outputs.h"
#include "points/point.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_gpu_options {
    int runs;    /* timed ones of each call; slow calls get fewer, but no less than 11 */
    bool warm;   /* all runs read one input; else they go round 256 MiB of copies */
    bool graph;  /* each call also captured in a graph, and replayed */
    bool rivals; /* CUB beside it */
    bool once;   /* every call once, checked but not timed: for profilers */
    uint64_t seed;
} bench_gpu_options;

typedef struct bench_gpu_session {
    topk_context *context;
    bench_gpu_options options;
    char device[256]; /* name */
    int sms, driver, runtime;
    double empty_us;    /* a kernel that does nothing, measured as everything else is */
    double copy_rate;   /* bytes per second, read plus written; 0 with `once` */
    bool lost;          /* an error that the device does not recover from; nothing more can be run */
    bench_spoil *spoil; /* NULL, or what spoils a result before it is checked: a test of the checks */
    struct bench_gpu_state *state;
} bench_gpu_session;

typedef enum bench_gpu_outcome {
    BENCH_GPU_RIGHT,
    BENCH_GPU_WRONG,
    BENCH_GPU_REFUSED, /* no method of the library does this, or not with these options */
    BENCH_GPU_SKIPPED  /* more than the device's memory holds */
} bench_gpu_outcome;

/* One line of the results. Only where it is BENCH_GPU_RIGHT there are times, and with `once` not even there.
 */
typedef struct bench_gpu_result {
    const bench_point *point;
    const char *name;   /* "topk" or that of the rival */
    const char *launch; /* "eager" or "graph" */
    bench_gpu_outcome outcome;
    char reason[192]; /* why not */
    bool invalid;     /* one read takes longer than it should on this GPU: VOID */
    int64_t k;        /* of a point that has none: the number of matches */
    const char *reader;
    double read_us;
    double limit_us; /* one read; select_where: and that of the mask; where, mask: and what they write */
    bench_quartiles call_us;
    double host_us; /* that the call holds its thread */
    int runs;
    double to_topk;           /* rivals: median over the library's; else 1 */
    double plain_us, mask_us; /* select_where: the median of select on the same data, launched likewise; and
                                 the bytes of the mask at the rate of the read. 0: none */
    size_t workspace_bytes;
} bench_gpu_result;

typedef void bench_gpu_sink(void *state, const bench_gpu_session *session, const bench_gpu_result *result);

/* Opens the device of the context. False, with a sentence on stderr: it cannot be used. Close it in any case.
 */
bool bench_gpu_open(bench_gpu_session *session, topk_context *context, const bench_gpu_options *options);
void bench_gpu_close(bench_gpu_session *session);

/* Runs a point and hands over a result for each line that the options ask for. */
void bench_gpu_run(bench_gpu_session *session, const bench_point *point, bench_gpu_sink *sink, void *state);

/* Whether the checks notice what they must; tells on stdout. */
bool bench_gpu_self_test(bench_gpu_session *session);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_GPU_H */
