/* SPDX-License-Identifier: Apache-2.0
 *
 * What a session on the GPU keeps from one point to the next. */
#ifndef BENCH_SESSION_CUDA_H
#define BENCH_SESSION_CUDA_H

#include "gpu/check_cuda.h"
#include "gpu/data_cuda.h"
#include "gpu/gpu.h"
#include "gpu/read_cuda.h"

struct bench_gpu_state {
    bench_timer timer;
    bench_turns turns;
    bench_gpu_data data;
    uint64_t checksum;             /* of the data */
    bench_gpu_data mask;           /* of a point with a mask: select_where reads it beside the data, others in
                                      their place */
    const bench_gpu_data *subject; /* the data or the mask: what calls read and `read` is about; NULL: not
                                      known yet */
    bench_buffer scratch;          /* of what is found out about the data */
    bench_gpu_read read;
    bool read_slow; /* slower than it should be: results are void */
    bench_gpu_outputs outputs;
    bench_buffer workspace;
    bench_buffer flush; /* what is written to have the input out of the cache */
    bench_gpu_checker checker;
};

#endif /* BENCH_SESSION_CUDA_H */
