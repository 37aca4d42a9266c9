/* SPDX-License-Identifier: Apache-2.0
 * The kernel that streams rows through shared memory, and who launches it. */
#ifndef TOPK_SRC_CUDA_RESIDENT_STREAM_H
#define TOPK_SRC_CUDA_RESIDENT_STREAM_H

#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kernel of one element width. It selects, in any order and with any ties, up to RESIDENT_STREAM_RESULTS
 * of a row. */
struct resident_stream_kernels {
    /* *blocks: of the largest cluster that the device has room for, 1 if it has none. */
    int (*prepare)(uint32_t shared_bytes_max, uint32_t *blocks);
    uint32_t (*shared_bytes)(const struct resident_args *args);
    /* Each block of `teams` stands for a cluster of that many. */
    int (*stream)(const struct launch_grid *teams, const struct resident_args *args, uint32_t cluster);
};

extern const struct resident_stream_kernels topk_cuda_resident_stream_8, topk_cuda_resident_stream_16,
    topk_cuda_resident_stream_32, topk_cuda_resident_stream_64;

#ifdef __cplusplus
}
#endif
#endif
