/* SPDX-License-Identifier: Apache-2.0
 *
 * What the driver keeps of a GPU from one point to the next. */
#ifndef BENCH_SESSION_CUDA_H
#define BENCH_SESSION_CUDA_H

#include "gpu/check_cuda.h"
#include "gpu/read_cuda.h"

/* A call captured in graphs. A graph has its pointers built in, so that there is one for each copy of the
 * input that is to be read. */
typedef struct bench_graphs {
    cudaGraphExec_t *each;
    int count;
    cudaStream_t stream;
} bench_graphs;

/* Captures the work for up to `most` copies of the data, far from each other. False if the work cannot be
 * captured: it allocates or waits. Free them in any case. Begin with a zeroed struct. */
bool bench_graphs_make(bench_graphs *graphs, bench_work work, const bench_data *data, int most,
                       cudaStream_t stream);
void bench_graphs_free(bench_graphs *graphs);

/* For a bench_work; the state is a bench_graphs. */
bool bench_graphs_enqueue(void *state, int64_t turn);

struct bench_gpu_state {
    char name[256];
    int sms, driver, runtime;
    bench_timer timer;
    int64_t turn; /* of the runs so far */
    bench_data data;
    uint64_t checksum; /* of the data */
    bench_data mask;   /* of a point with a mask: select_where reads it beside the data, others instead */
    bool reads_data, reads_mask;
    const bench_data *subject; /* the data or the mask: what `read` is about; NULL: not known yet */
    bench_gpu_read read;
    bool read_slow;       /* slower than it should be: results are void */
    bench_buffer scratch; /* of what is found out about the data */
    bench_graphs graphs;
    bench_buffer flush; /* what is written before replays, to have the input out of the cache */
    bench_gpu_checker checker;
};

#endif /* BENCH_SESSION_CUDA_H */
