/* SPDX-License-Identifier: Apache-2.0
 *
 * What the driver keeps of a GPU from one point to the next. */
#ifndef BENCH_SESSION_CUDA_H
#define BENCH_SESSION_CUDA_H

#include "gpu/check_cuda.h"
#include "gpu/graph_cuda.h"
#include "gpu/read_cuda.h"

struct bench_gpu_state {
    char name[256];
    int sms, driver, runtime;
    bench_timer timer;
    bench_turns turns;
    bench_gpu_data data;
    uint64_t checksum; /* of the data */
    bench_gpu_data
        mask; /* of a point with a mask: select_where reads it beside the data, others in their place */
    bool reads_data, reads_mask;
    const bench_gpu_data *subject; /* the data or the mask: what `read` is about; NULL: not known yet */
    bench_gpu_read read;
    bool read_slow;       /* slower than it should be: results are void */
    bench_buffer scratch; /* of what is found out about the data */
    bench_graphs graphs;
    bench_buffer flush; /* what is written before replays, to have the input out of the cache */
    bench_gpu_checker checker;
};

/* The self-test of bench_cuda. */
bool bench_gpu_self_test(bench_session *session);

#endif /* BENCH_SESSION_CUDA_H */
