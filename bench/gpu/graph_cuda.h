/* SPDX-License-Identifier: Apache-2.0
 *
 * A call captured in graphs. A graph has its pointers built in, so that there is one for each copy of
 * the input that is to be read. */
#ifndef BENCH_GRAPH_CUDA_H
#define BENCH_GRAPH_CUDA_H

#include "gpu/data_cuda.h"
#include "gpu/timer_cuda.h"

typedef struct bench_graphs {
    cudaGraphExec_t *each;
    int count;
    cudaStream_t stream;
} bench_graphs;

/* Captures the work for up to `most` copies of the data, far from each other. False if the work cannot be
 * captured: it allocates or waits. Free them in any case. Begin with a zeroed struct. */
bool bench_graphs_make(bench_graphs *graphs, bench_work work, const bench_gpu_data *data, int most,
                       cudaStream_t stream);
void bench_graphs_free(bench_graphs *graphs);

/* For a bench_work; the state is a bench_graphs. */
bool bench_graphs_enqueue(void *state, int64_t turn);

#endif /* BENCH_GRAPH_CUDA_H */
