/* SPDX-License-Identifier: Apache-2.0
 *
 * What the driver keeps of a GPU from one point to the next. */
#ifndef BENCH_SESSION_CUDA_H
#define BENCH_SESSION_CUDA_H

#include "gpu/read_cuda.h"

BENCH_C_BEGIN

/* A call captured in graphs. A graph has its pointers built in, so that there is one for each copy of the
 * input that is to be read. */
typedef struct bench_graphs {
    cudaGraphExec_t *each;
    int count;
    cudaStream_t stream;
} bench_graphs;

typedef struct bench_gpu_state {
    char name[256];
    int sms, driver, runtime;
    bench_timer timer;
    int64_t turn;              /* of the runs so far */
    uint64_t checksum;         /* of the session's data */
    const bench_data *subject; /* the data or the mask: what `read` is about; NULL: not known yet */
    bench_gpu_read read;
    bool read_slow;       /* slower than it should be: results are void */
    bench_buffer scratch; /* of the search for the truth and of the checks */
    bench_graphs graphs;
    bench_buffer flush; /* what is written before replays, to have the input out of the cache */
} bench_gpu_state;

/* Whether the outputs of a point are right, found out on the device by the passes of check/; else the result
 * gets a reason. *checksum gets one of the input's elements and their positions. Waits for the stream. */
bool bench_gpu_check(bench_session *session, const bench_point *point, const bench_outputs *outputs,
                     bench_result *result, uint64_t *checksum);

BENCH_C_END

#endif /* BENCH_SESSION_CUDA_H */
