/* SPDX-License-Identifier: Apache-2.0
 *
 * What the driver keeps of a GPU from one point to the next, and what input_cuda.cu does there for a point:
 * its input, from the same recipe as on the host and equal to that but for the last bits of a logarithm; the
 * truth about it; a mask made of the truth; and the check. */
#ifndef BENCH_SESSION_CUDA_H
#define BENCH_SESSION_CUDA_H

#include "gpu/device_cuda.h"
#include "gpu/timer_cuda.h"
#include "measure/rivals.h"

BENCH_C_BEGIN

enum { BENCH_GRAPHS = 1002 };

typedef struct bench_gpu_state {
    char name[256];
    int sms, driver, runtime;
    bench_timer timer;
    uint64_t checksum;         /* of the session's data */
    const bench_data *subject; /* the data or the mask: what the next four are about; NULL: not known yet */
    size_t piece_bytes;        /* one read is as many launches as such pieces make up the subject; 0: one */
    const char *read_name;     /* of the fastest kernel */
    bench_quartiles read_us;
    bool read_slow;                       /* slower than it should be: results are void */
    bench_buffer scratch;                 /* of reads, of the search for the truth and of the checks */
    cudaGraphExec_t graphs[BENCH_GRAPHS]; /* a captured call: a graph has its pointers built in, so that there
                                             is one for each copy of the input that is to be read */
    int graph_count;
    bench_buffer queries, base; /* vectors that distances are made of */
    bench_buffer file;          /* of elements */
    bench_buffer flush;         /* what is written before replays, to have the input out of the cache */
} bench_gpu_state;

/* Makes the input of a point, with copies to go round. False: out of memory or a device error, and the
 * session has no data. */
bool bench_gpu_data_make(bench_session *session, const bench_point *point);

/* A bound is found by bisection: the least element with no more than the share above it that is to be there;
 * without ties exactly that share is. Masks of where, count and mask are made of a bound, masks of
 * select_where by position. False: a device error. */
bool bench_gpu_truth_find(bench_session *session, const bench_point *point);

/* Makes a byte or a bit mask, as `kind` says, of the matches, likewise with copies. False: out of memory or a
 * device error. */
bool bench_gpu_mask_make(bench_session *session, bench_data *mask, const bench_point *point,
                         bench_predicate kind);

/* Whether the outputs of a point are right, found out on the device by the passes of check/; else the result
 * gets a reason. *checksum gets one of the input's elements and their positions. Waits for the stream. */
bool bench_gpu_check(bench_session *session, const bench_point *point, const bench_outputs *outputs,
                     bench_result *result, uint64_t *checksum);

/* One read: the least time in which the device's memory hands over the subject, summed up to one number. It
 * is the unit of the benchmark. Times it in `runs` runs. False: a device error. */
bool bench_gpu_read_measure(bench_gpu_state *state, int runs);

/* The floor of a selection: the least time of a kernel that reads the subject and writes as many bytes to the
 * outputs, but selects nothing. False: a device error. */
bool bench_gpu_floor_measure(bench_gpu_state *state, const bench_outputs *outputs, int runs, double *us);

/* Bytes per second, read plus written, of a copy in device memory; 0: a device error. */
double bench_gpu_copy_rate(bench_timer *timer);

/* The name of a read kernel that fails to look at some byte; NULL if there is none. */
const char *bench_gpu_deaf_reader(bench_session *session);

/* Makes what rivals read beside the input: positions, offsets, or flags in its place. */
bool bench_gpu_rival_prepare(bench_session *session, bench_rival *rival);

BENCH_C_END

#endif /* BENCH_SESSION_CUDA_H */
